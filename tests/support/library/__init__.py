"""The files of the library."""
