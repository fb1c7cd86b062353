"""The compiler from Document to Plan: ordered passes, diagnostics and a fingerprint, pure and deterministic."""
