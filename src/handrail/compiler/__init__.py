"""From Document to Plan: passes in order, diagnostics, fingerprint. Pure and deterministic."""
