"""What things are: frozen values and closed unions; no input or output, no clock, no randomness."""
