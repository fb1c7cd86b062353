"""Findings, verdicts and convergence of review loops."""
