"""A scripted model server on loopback, which real agent CLIs use in place of their vendor's."""
