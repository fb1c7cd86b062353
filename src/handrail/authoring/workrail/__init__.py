"""The shapes of WorkRail's JSON format."""
