"""Makes runs happen durably: the driver loop, one file per effect, recovery, the supervisor of many runs."""
