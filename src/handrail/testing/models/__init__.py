"""A scripted model on loopback, which real agent CLIs talk to as to their vendor's."""
