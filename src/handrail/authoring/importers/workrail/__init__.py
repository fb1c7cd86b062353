"""Converts WorkRail JSON to native YAML."""
