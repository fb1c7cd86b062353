"""What operations need of the machine beside a log."""

from collections.abc import Callable

from handrail.frozen import frozen
from handrail.model.secrets.redaction import Redactor
from handrail.ports.log_files import LogFiles
from handrail.ports.processes import Processes
from handrail.ports.programs import Programs
from handrail.ports.repositories import Repositories


@frozen
class Machine:
    """The parts of a machine, each behind its port; `wiring.machine` makes the real one."""

    repositories: Repositories
    processes: Processes
    programs: Programs
    log_files: LogFiles
    redactor: Callable[[], Redactor]
    """Makes what takes the secrets of the caller's environment out of a text."""
