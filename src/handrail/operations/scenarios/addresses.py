"""Step addresses in tests: which steps a workflow has, and which visited steps an address means."""

import re
from collections.abc import Iterator
from dataclasses import field

from handrail.authoring.scripts.address_patterns import EXAMPLES, find_key, is_address
from handrail.authoring.scripts.schema import DEFAULT
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.parts import walk_steps
from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.actions import AgentAction, ApprovalAction, ScriptAction, body
from handrail.model.workflow.plan import Plan, Step
from handrail.operations.scenarios.shapes import GAP

_ROUND = re.compile(r"@[0-9]+(?=/|\Z)")
_ITEM = re.compile(r"\[(?:(?!\](?:[/@]|\Z)).)+\]", re.DOTALL)
MAX_NAMED = 12


def is_same_step(key: str, address: str) -> bool:
    """Whether an address is the step that a key means, in any round and for any item if the key names none."""
    return find_key(address, (key,)) is not None


def is_within_step(key: str, address: str) -> bool:
    """Whether an address is the step that a key means, or a part of it."""
    ends = [at for at, letter in enumerate(address) if letter in "/["]
    return any(is_same_step(key, address[:end]) for end in (*ends, len(address)))


def strip_rounds_and_items(address: str) -> str:
    """Strip rounds and items from an address."""
    return _ROUND.sub("", _ITEM.sub("", address))


@frozen
class KnownSteps:
    """The steps of a workflow and of those that it calls."""

    plan: Plan
    called: tuple[Plan, ...] = ()
    _steps: dict[str, Step] = field(init=False)

    def __post_init__(self) -> None:
        found = {address: step for plan in (*self.called, self.plan) for address, step in walk_steps(plan.steps)}
        object.__setattr__(self, "_steps", found)

    def is_approval(self, address: str) -> bool:
        """Whether a step asks for an approval."""
        step = self._steps.get(strip_rounds_and_items(address))
        return step is not None and isinstance(step.action, ApprovalAction)

    def check(self, address: str, at: Node | Entry, report: Report) -> None:
        """Report an address that no step of the workflow can have."""
        if not is_address(address):
            report.error("bad-value", f"'{address}' is not a valid step address", at, f"for example {EXAMPLES}")
        elif not self._is_known(strip_rounds_and_items(address)):
            own = [name for name, _ in walk_steps(self.plan.steps)]
            guess = did_you_mean(strip_rounds_and_items(address), self._steps)
            named = ", ".join(own[:MAX_NAMED]) + (", ..." if len(own) > MAX_NAMED else "")
            report.error("unknown-step", f"{self.plan.name} has no step '{address}'{guess}", at, f"its steps: {named}")

    def _is_known(self, address: str) -> bool:
        """Whether an address is a step, or a part of a composite one: `checks/fix`, `review/arbiter`."""
        nearest = address
        while nearest and nearest not in self._steps:
            nearest = nearest.rpartition("/")[0]
        if not nearest or nearest == address:
            return bool(nearest)
        action = self._steps[nearest].action
        return not body(action) and not isinstance(action, AgentAction | ApprovalAction | ScriptAction)


def addresses_in(node: Mapping) -> Iterator[tuple[str, Node | Entry]]:
    """Yield every step address of a scenario with its position."""
    expect = node.get("expect")
    places = [node.get(name) for name in ("turns", "answers", "commands")]
    if isinstance(expect, Mapping):
        places += [expect.get(name) for name in ("tries", "prompts", "steps")]
        yield from _addresses_in_list(expect.get("path"))
        yield from _addresses_in_list(expect.get("not_run"))
    for place in places:
        for entry in place if isinstance(place, Mapping) else ():
            if entry.name != DEFAULT:
                yield entry.name, entry


def _addresses_in_list(node: Node | None) -> Iterator[tuple[str, Node | Entry]]:
    for item in node.items if isinstance(node, Sequence) else (node,):
        if isinstance(item, Scalar) and item.value != GAP:
            yield str(item.value), item
