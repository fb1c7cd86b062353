"""The command `handrail demo`."""
