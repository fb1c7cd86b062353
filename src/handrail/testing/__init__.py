"""What others need to test with Handrail: conformance suites for every port."""
