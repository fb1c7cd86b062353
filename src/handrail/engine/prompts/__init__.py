"""What an agent is told, and which agent it is."""
