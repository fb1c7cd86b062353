"""Public support for tests with Handrail: conformance suites for ports, in-memory twins, a scripted model, diagrams."""
