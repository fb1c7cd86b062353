"""What operations need from the machine beside a log."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from handrail.frozen import frozen
from handrail.model.secrets.redaction import Redactor
from handrail.ports.agents import AgentCatalog
from handrail.ports.processes import Processes
from handrail.ports.repositories import Repositories
from handrail.ports.sandboxes import Sandbox

if TYPE_CHECKING:
    from handrail.ports.issue_books import IssueCare
    from handrail.ports.log_care import LogFiles
    from handrail.ports.programs import Programs
    from handrail.ports.repositories import TrustedFiles
    from handrail.ports.windows import WindowSystem


@frozen
class Machine:
    """The parts of a machine, each behind its port; `wiring.machine` builds the real one."""

    repositories: Repositories
    processes: Processes
    programs: "Programs"
    log_files: "LogFiles"
    agents: AgentCatalog
    """The agents that come with Handrail."""
    sandbox: Sandbox
    windows: "WindowSystem"
    redactor: Callable[[], Redactor]
    """Creates the redactor for the secrets of the caller's environment."""
    trusted_files: "Callable[[], TrustedFiles]"
    """Creates the view of the repository files that the caller has trusted."""
    environment: Callable[[Iterable[str]], dict[str, str]]
    """Returns the caller's variables that runs may see, with those that are named."""
    issue_care: "Callable[[], IssueCare] | None" = None
    """Creates what checks and repairs local issues."""
