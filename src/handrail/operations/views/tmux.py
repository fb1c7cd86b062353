"""Whether agents can be shown in tmux on this machine."""

from handrail.errors import EnvironmentFault
from handrail.ports.windows import WindowSystem


def require_tmux(windows: WindowSystem) -> None:
    """Refuse what needs tmux if there is none."""
    why = windows.unavailable_reason()
    if why:
        raise EnvironmentFault(why, next_step=windows.remedy())
