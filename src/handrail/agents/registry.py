"""The agents that are known here, by name."""

from collections.abc import Callable, Mapping

from handrail.errors import NotFound, UsageError
from handrail.model.suggest import did_you_mean
from handrail.ports.agents import Agent


def _claude(program: str = "") -> Agent:
    from handrail.agents.claude.adapter import ClaudeAgent  # noqa: PLC0415 (an agent is loaded when a step asks for it)

    return ClaudeAgent(program=program)


def _scripted() -> Agent:
    from handrail.agents.played.scripted import ScriptedAgent  # noqa: PLC0415 (an agent is loaded when a step asks for it)

    return ScriptedAgent()


def _codex(program: str = "") -> Agent:
    from handrail.agents.codex.adapter import CodexAgent  # noqa: PLC0415

    return CodexAgent(program)


def _gemini(program: str = "") -> Agent:
    from handrail.agents.gemini.adapter import GeminiAgent  # noqa: PLC0415

    return GeminiAgent(program)


def _opencode(program: str = "") -> Agent:
    from handrail.agents.opencode.adapter import OpencodeAgent  # noqa: PLC0415

    return OpencodeAgent(program)


def _cassette() -> Agent:
    from handrail.agents.played.cassette import CassetteAgent  # noqa: PLC0415

    return CassetteAgent()


BUILT_IN: dict[str, Callable[[], Agent]] = {
    "cassette": _cassette,
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "scripted": _scripted,
}
"""Every agent that comes with Handrail; a new one is a file and a line here."""

RENAMABLE: dict[str, Callable[[str], Agent]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}
"""Those whose program may be called otherwise on a machine."""


class KnownAgents:
    """The `Agents` of a table, one of which may be the configured one."""

    def __init__(self, table: Mapping[str, Callable[[], Agent]] = BUILT_IN, default: str | None = None) -> None:
        self._table = dict(table)
        self._default = default
        self._made: dict[str, Agent] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all that are known."""
        return tuple(sorted(self._table))

    def find(self, name: str | None, repository: str | None = None) -> Agent:  # noqa: ARG002 - it knows none of them
        """Give an agent by its name, None for the one that is configured or the only one there is."""
        wanted = self._chosen() if name is None else name
        if wanted not in self._table:
            raise self._unknown(wanted, configured=name is None)
        if wanted not in self._made:
            self._made[wanted] = self._table[wanted]()
        return self._made[wanted]

    def _chosen(self) -> str:
        if self._default is not None:
            return self._default
        if len(self._table) == 1:
            return next(iter(self._table))
        if not self._table:
            raise NotFound("no agent is known here", next_step="install one, or play a script with `--agent scripted`")
        raise UsageError("no agent was chosen", next_step=f"name one with `--agent`: {', '.join(self.names)}")

    def _unknown(self, name: str, *, configured: bool) -> NotFound:
        what = "the configured agent" if configured else "the agent"
        message = f"{what} '{name}' is not known{did_you_mean(name, self._table)}"
        return NotFound(message, next_step=f"the agents known here: {', '.join(self.names) or 'none'}")
