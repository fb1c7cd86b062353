"""Connects what drives runs with the ways to notify people."""

from handrail.model.diagnostics import Report
from handrail.operations.driving.notices import Notifier
from handrail.processes.send_notice import send_notice
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.run_writer import RunWriter
from handrail.sources.config.notify import read_notify
from handrail.sources.folders import Folders

__all__ = ["attach_notices", "send_notice"]


def attach_notices(supervisor: Supervisor, folders: Folders, writer: RunWriter, *, watched: bool) -> None:
    """Let a supervisor notify people of what its runs need, as the user's configuration says."""
    setting = read_notify(folders, Report())
    supervisor.announce = Notifier(supervisor.log, writer, setting, send_notice, watched).announce
