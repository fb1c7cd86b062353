"""Walks every branch of a plan with the real engine, giving each step every class of outcome. Nothing is run."""
