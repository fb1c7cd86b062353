"""Chooses which agent performs a step, with which model, and why.

1. The first that names an agent decides: `--agent`, the step, a tag in the issue, a label of the issue, what the run
   was started with (the repository's default, or the only agent that is installed).
2. A model counts if it is meant for the agent that was chosen; a model that only one agent has names that agent.
3. An agent that is missing or stays overloaded is replaced by the next of the fallbacks, but never one that was
   requested with `--agent`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import cast

from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.model.workflow.agent_names import NO_AGENT_NAMES, AgentChoice, AgentNames
from handrail.model.workflow.settings import NO_POLICY, AgentPolicy, AgentTask
from handrail.model.workflow.values import JsonValue

# Some trackers write brackets with backslashes.
TAG = re.compile(r"\\?\[(agent|model)=([a-z0-9][a-z0-9_.:/-]*)\\?\]", re.IGNORECASE)
LABEL = re.compile(r"(agent|model)[:=/]\s*([a-z0-9][a-z0-9_.:/-]*)", re.IGNORECASE)
FALLBACK = "fallback"
"""How the reason begins if another agent than the step's own was chosen."""


@frozen
class AgentSource:
    """Something that names an agent, a model or both."""

    named: AgentChoice
    why: str


@frozen
class AgentContext:
    """What a run knows about the agents of its steps."""

    override: str = ""
    """The values of `--agent` and `--model`."""
    policy: AgentPolicy = NO_POLICY
    inputs: Mapping[str, JsonValue] | None = None
    task: str = ""
    names: AgentNames = NO_AGENT_NAMES
    """The names by which agents are known here."""


@frozen
class Choice:
    """The agent of a step; None if nothing names one."""

    agent: str | None
    model: str | None
    why: str
    instead: tuple[str, ...] = ()
    """The agents to fall back to when it is missing or stays overloaded."""


def choose_agent(task: AgentTask, given: AgentContext, falls: int = 0) -> Choice:
    """Choose the agent of a step; `falls` counts the agents that were already replaced."""
    first = _choose_first(task, given)
    if given.override and given.names.read(given.override).agent:
        return first
    own = (first.agent, first.model)
    read = ((text, given.names.read(text)) for text in given.policy.fallback)
    chain = tuple(text for text, each in read if each.agent and (each.agent, each.model) != own)
    if not falls or not chain:
        return Choice(first.agent, first.model, first.why, chain)
    place = min(falls, len(chain))
    taken = given.names.read(chain[place - 1])
    why = f"{FALLBACK} {place} of {len(chain)}, since {AgentChoice(first.agent, first.model).text} could not do it"
    return Choice(taken.agent, taken.model, why, chain[place:])


def gather_agent_settings(state: RunState, names: AgentNames) -> AgentContext:
    """Collect what a run knows about the agents of its steps."""
    return AgentContext(state.agent, state.agents, state.inputs, state.task, names)


def count_fallbacks(state: RunState, address: str) -> int:
    """Count the agents that were replaced at a step; a step that starts over begins with its own agent."""
    step = state.steps.get(address)
    return 0 if step is None or state.failure is None else step.falls


def _choose_first(task: AgentTask, given: AgentContext) -> Choice:
    override = given.names.read(given.override)
    if override.agent:
        return Choice(override.agent, override.model, "--agent")
    grounds = tuple(each for each in _grounds(task, given, override) if each.named != AgentChoice())
    decides = next((each for each in grounds if each.named.agent), None)
    agent = None if decides is None else decides.named.agent
    models = (each for each in grounds if each.named.model and each.named.agent in (agent, None))
    modelled = next(models, None)
    whys = [each.why for each in (decides, modelled) if each is not None]
    return Choice(agent, None if modelled is None else modelled.named.model, ", model: ".join(dict.fromkeys(whys)))


def _grounds(task: AgentTask, given: AgentContext, override: AgentChoice) -> Iterator[AgentSource]:
    names = given.names
    yield AgentSource(override, "--model")
    yield AgentSource(names.read(task.agent, task.model), "the step names it")
    issues = [each for each in (given.inputs or {}).values() if _is_issue(each)]
    for kind, value in _tags(_texts(given.task, issues)):
        yield AgentSource(_read_tag(kind, value, names), f"tag [{kind}={value}] in the issue")
    yield from (_read_label(label, names) for issue in issues for label in _labels(issue))
    yield AgentSource(names.read(given.policy.usual), given.policy.usual_why)


def _is_issue(value: JsonValue) -> bool:
    return isinstance(value, dict) and "title" in value and isinstance(value.get("labels"), list)


def _texts(task: str, issues: list[JsonValue]) -> tuple[str, ...]:
    parts = (cast("dict[str, JsonValue]", issue).get(name) for issue in issues for name in ("description", "title"))
    return (*(part for part in parts if isinstance(part, str)), task)


@lru_cache(maxsize=64)
def _tags(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Find the first tag of each kind with its value, `agent` before `model`."""
    found: dict[str, re.Match[str]] = {}
    for text in texts:
        for match in TAG.finditer(text):
            found.setdefault(match[1].lower(), match)
    return tuple((found[kind][1], found[kind][2]) for kind in sorted(found))


def _read_tag(kind: str, value: str, names: AgentNames) -> AgentChoice:
    if kind.lower() == "agent":
        return names.read(value if "/" in value else value.lower())
    return AgentChoice(names.owner_of(value), value)


def _labels(issue: JsonValue) -> list[str]:
    labels = cast("list[JsonValue]", cast("dict[str, JsonValue]", issue)["labels"])
    names = (each.get("name") if isinstance(each, dict) else each for each in labels)
    return [name for name in names if isinstance(name, str)]


def _read_label(label: str, names: AgentNames) -> AgentSource:
    text = label.strip()
    why = f"label '{text}' of the issue"
    match = LABEL.fullmatch(text)
    if match is not None:
        return AgentSource(_read_tag(match[1], match[2], names), why)
    if names.is_label(text):
        return AgentSource(names.read(text.lower()), why)
    return AgentSource(AgentChoice(), why)
