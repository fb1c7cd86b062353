"""Names of tools in workflows: the common ones of Claude Code, and those of the agent itself."""

from collections.abc import Iterable, Mapping

from handrail.errors import UsageError
from handrail.model.suggest import did_you_mean


def resolve_tool_names(agent: str, given: Iterable[str], common: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Convert tool names to an agent's own; an unknown tool is refused, since nothing would be enforced."""
    own = {name for names in common.values() for name in names}
    found: list[str] = []
    for name in given:
        if name not in common and name not in own and not name.startswith("mcp_"):
            known = sorted({*common, *own})
            message = f"{agent} has no tool '{name}'{did_you_mean(name, known)}"
            raise UsageError(message, next_step=f"its tools: {', '.join(known)}")
        found += common.get(name, (name,))
    return tuple(dict.fromkeys(found))
