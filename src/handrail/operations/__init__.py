"""What a user may do: one function per intent, the same for every surface."""
