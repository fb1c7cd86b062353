"""Write what connects an agent to Handrail into its configuration, and take exactly that back."""
