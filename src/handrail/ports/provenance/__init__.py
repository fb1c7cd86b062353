"""What is asked about the origin of work: who wrote what."""
