"""Findings, verdicts, convergence."""
