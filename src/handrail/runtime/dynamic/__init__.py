"""Steps written as a Python coroutine."""
