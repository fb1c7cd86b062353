"""Runs commands that outlive their supervisor."""
