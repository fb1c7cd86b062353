"""Where the extracts of GitHub's descriptions lie; SOURCES.md says where they come from."""

from pathlib import Path

OPENAPI = Path(__file__).with_name("openapi.json.gz")
GRAPHQL = Path(__file__).with_name("schema.graphql")
