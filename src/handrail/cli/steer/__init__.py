"""Commands that answer or steer a run."""
