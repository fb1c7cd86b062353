"""WorkRail JSON to native YAML."""
