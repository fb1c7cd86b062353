"""Commands about workflows: list, validate, test, simulate, import."""
