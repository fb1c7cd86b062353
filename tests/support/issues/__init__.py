"""What tests of runs on issues share."""
