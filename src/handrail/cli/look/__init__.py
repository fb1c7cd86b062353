"""Commands that only show: status, logs, show, why, diff, cost, compare."""
