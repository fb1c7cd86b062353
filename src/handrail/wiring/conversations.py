"""Builds what reports on the issues of runs, and takes up the answers of people there."""

import os

from handrail.operations.issue_runs.conversation import Conversation
from handrail.ports.trackers import TrackerCatalog
from handrail.runtime.ports import Clock
from handrail.runtime.run_writer import RunWriter
from handrail.sources.folders import Folders

POLL_FILE = "issues.due"
"""An empty file of the data folder; its time says when issues and pull requests are looked at next."""


def make_conversation(
    writer: RunWriter, trackers: TrackerCatalog, folders: Folders, clock: Clock, run: str = ""
) -> Conversation:
    """Build what looks after the issue of one run, or of all runs."""
    marker = folders.data / POLL_FILE

    def note_poll(due: float | None) -> None:
        if due is None:
            marker.unlink(missing_ok=True)
            return
        marker.touch()
        os.utime(marker, (due, due))

    def note_earlier_poll(due: float | None) -> None:
        # Other runs may have to be looked after, of which this process knows nothing.
        if due is not None and (not marker.exists() or marker.stat().st_mtime > due):
            note_poll(due)

    conversation = Conversation(writer, trackers, clock)
    conversation.on_poll = note_poll if not run else note_earlier_poll
    if run:
        conversation.wanted = lambda each: each == run
        conversation.with_pull_requests = False
    return conversation
