"""Support for tests that let the installed program work on the issues of a code host."""
