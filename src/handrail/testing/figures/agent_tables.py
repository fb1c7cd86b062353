"""What can be enforced for each agent, as a table generated from the adapters."""

from collections.abc import Iterator

from handrail.agents.registry import PLAYED, KnownAgents
from handrail.operations.agents.health import HEALTH_FIELDS, ORDER, REFUSED
from handrail.ports.agents import Abilities

OTHERWISE = {
    "schema": "checked afterwards, requested again",
    "system_prompt": "placed before the prompt",
    "cost": "estimated from tokens",
    "follow_up": "waits for the next call",
}
"""What happens instead where an agent lacks the ability and the step is not refused."""


def ability_table() -> str:
    """Render a row for each requirement that a step may have and a column for each agent."""
    known = KnownAgents()
    names = [name for name in known.names if name not in PLAYED]
    head = ["| |", *(f" {name} |" for name in names)]
    rows = ["".join(head), "|---" * (len(names) + 1) + "|"]
    rows += ["".join([f"| {what} |", *(f" {said} |" for said in saids)]) for what, saids in _rows(known, names)]
    return "\n".join(rows)


def _rows(known: KnownAgents, names: list[str]) -> Iterator[tuple[str, list[str]]]:
    abilities = [known.find(name).can for name in names]
    for level in ORDER:
        yield f"`access: {level}`", ["yes" if level in can.access else "refused" for can in abilities]
    for field, words in HEALTH_FIELDS:
        yield words, [_describe_ability(can, field) for can in abilities]


def _describe_ability(can: Abilities, field: str) -> str:
    if getattr(can, field):
        return "yes"
    return "refused" if field in REFUSED else OTHERWISE[field]
