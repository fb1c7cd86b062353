"""Reads a repository's own files for its checks and its set-up; nothing is run or guessed."""
