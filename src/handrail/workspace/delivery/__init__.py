"""Delivers the work to the user's checkout, or cleans up."""
