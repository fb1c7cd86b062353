"""What leaves a run: changes, exports, cassettes, clean-up."""
