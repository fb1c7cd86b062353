"""The shapes of file formats: checking a tree against them, and exporting them as JSON Schema."""
