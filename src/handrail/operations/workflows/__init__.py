"""Find, check, describe, trust and import workflows."""
