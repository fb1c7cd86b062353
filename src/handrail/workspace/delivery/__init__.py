"""Bring the work to the user's checkout, or clean up."""
