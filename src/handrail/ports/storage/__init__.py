"""What cares for the storage of the log: versions and hashes of events, repair, files, the list of runs."""
