"""Explores every branch of a plan with the real engine, trying every class of outcome of each step; nothing is run."""
