"""How people name an agent: `codex`, `claude/opus`, or a model alone that only one agent has."""

import re

from handrail.frozen import frozen

_OTHER_NAMES = {"openai": "codex", "claude-code": "claude", "gemini-cli": "gemini"}
_MODELS_OF = (
    ("claude", re.compile(r"(opus|sonnet|haiku)\b.*|claude-.+")),
    ("codex", re.compile(r"gpt-.+|o\d(-.+)?|codex-.+")),
    ("gemini", re.compile(r"gemini-\d.*")),
)
"""An agent with the names of the models that only it has."""


@frozen
class Named:
    """An agent, a model, or both; None where nothing is said of it."""

    agent: str | None = None
    model: str | None = None

    @property
    def text(self) -> str:
        """Both as people write them: `claude/opus`."""
        return f"{self.agent or ''}/{self.model}" if self.model else self.agent or ""


def named(agent: str | None, model: str | None = None) -> Named:
    """Read the name of an agent, which may hold its model or be one: `opus` is Claude Code with that model."""
    name, _, inline = (agent or "").strip().partition("/")
    name = _OTHER_NAMES.get(name.lower(), name)
    wanted = model or inline or None
    owner = implied(name)
    if owner is not None:
        return Named(owner, wanted or name)
    return Named(name or (implied(wanted) if wanted else None), wanted)


def implied(model: str) -> str | None:
    """Give the agent that alone has a model; None where several may, or none is known."""
    return next((agent for agent, models in _MODELS_OF if models.fullmatch(model.lower())), None)
