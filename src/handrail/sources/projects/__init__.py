"""What a repository's own files say about its checks and its set-up; only ever read, nothing is run or guessed."""
