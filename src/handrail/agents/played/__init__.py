"""Agents without a model: scripted, cassette."""
