"""Whose line is this: the step of a run that wrote a line, or the person.

Git's own blame names a commit, which after a squash merge holds the work of many steps, and after a rebase is one that
no run ever made. The runs know better: a snapshot was taken after every step (`workspace.snapshots.take`), and the log
says which step it belongs to. So git is asked again, with more parents than the commits name:

    commit that brought in work of a run      its own parents, then the newest snapshot of the run without it
    snapshot after a step                     the snapshot before the step, then HEAD if the step moved it
    snapshot at the start of a run            the snapshot of its caller or source, then HEAD

A line that git finds unchanged in a snapshot is passed on to it, and from there to the step that brought it in, or
through the start of the run to whoever wrote it before, which may be another run. What is not found in any of them was
written by whoever made the commit. Whatever git answers newly is examined in the same way, until nothing is new.
"""
