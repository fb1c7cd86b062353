"""Many runs on one machine: supervisor, background driver."""
