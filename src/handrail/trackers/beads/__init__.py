"""The issues that beads keeps in a repository, through the JSON commands of its program `bd`."""
