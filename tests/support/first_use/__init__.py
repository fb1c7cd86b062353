"""What the tests of a first use share."""
