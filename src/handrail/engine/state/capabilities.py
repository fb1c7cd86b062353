"""Compares the observed capabilities of the agent with those that a workflow requires or prefers.

1. Only what was observed counts; the newest observation of a capability does.
2. A required capability must be known to be available once a step is completed that is not itself a probe of it.
3. A preferred one never blocks: that it is missing is reported at the end, unless it becomes available.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from handrail.engine.state.preferences import gap_of, split_shortfalls
from handrail.frozen import frozen
from handrail.model.history.events import CapabilityObserved, Event, GapRecorded, RunBlocked, Shortfall
from handrail.model.history.run_state import RunState
from handrail.model.workflow.agent_names import KnownCapability
from handrail.model.workflow.guidance import Capability, GuidedAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.settings import AgentPolicy, AgentTask, confinement
from handrail.model.workflow.values import JsonValue

OBSERVATION = "wr.capability_observation"
WEB = "web_browsing"
MAX_NAME_LENGTH = 128
MAX_EVIDENCE_LENGTH = 512
_CERTAIN: dict[str, Literal["available", "unavailable"]] = {"available": "available", "unavailable": "unavailable"}


def read_observations(
    state: RunState, artifacts: Sequence[JsonValue], by: str, now: float
) -> tuple[CapabilityObserved, ...]:
    """Read the capability observations in artifacts that differ from what is known."""
    newest: dict[str, CapabilityObserved] = {}
    for each in artifacts:
        found = _read(each, by, now)
        if found is not None:
            newest[found.capability] = found
    return tuple(each for name, each in newest.items() if state.capabilities.get(name) != each.status)


def _read(artifact: JsonValue, by: str, now: float) -> CapabilityObserved | None:
    """Read an observation; one without a certain status leaves what is known as it is."""
    if not isinstance(artifact, dict) or artifact.get("kind") != OBSERVATION:
        return None
    name, status, evidence = artifact.get("capability"), artifact.get("status"), artifact.get("evidence")
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_LENGTH:
        return None
    if not isinstance(status, str) or status not in _CERTAIN:
        return None
    detail = evidence[:MAX_EVIDENCE_LENGTH] if isinstance(evidence, str) else ""
    return CapabilityObserved(capability=name, status=_CERTAIN[status], detail=detail, by=by, at=now)


def is_probe(action: GuidedAction | None) -> bool:
    """Whether a step exists to find out what the agent can do; a native one never does."""
    return action is not None and action.contract is not None and action.contract.artifact_kind == OBSERVATION


def find_missing_capabilities(
    plan: Plan, state: RunState, action: GuidedAction | None, sent: Sequence[JsonValue]
) -> Iterator[Shortfall]:
    """Yield the required capabilities that are missing or unknown; those already skipped are not reported again."""
    for each in _capabilities_at_level(plan, "required"):
        known = state.capabilities.get(each.name)
        if known == "available" or _is_gap_recorded(state, each.name):
            continue
        if known == "unavailable":
            message = f"the workflow requires {each.name}, but you reported that you cannot use it"
            fix = "tell your user; once you can use it, submit the step again with an artifact that says so"
            yield Shortfall(
                "capability_unavailable",
                message,
                each.name,
                fix,
                schema=schema_of(each.name),
                example=example_of(each.name),
            )
        elif not is_probe(action):
            yield _unknown_shortfall(each.name, _find_observation(each.name, sent))


def find_capability_gaps(
    plan: Plan, state: RunState, action: GuidedAction | None, address: str, now: float
) -> Iterator[GapRecorded]:
    """Yield the preferred capabilities that are missing or unknown, each once."""
    for each in _capabilities_at_level(plan, "preferred"):
        known = state.capabilities.get(each.name)
        if known == "available" or _is_gap_recorded(state, each.name) or (known is None and is_probe(action)):
            continue
        lacks = known == "unavailable"
        yield GapRecorded(
            category="capability_missing",
            severity="warning" if lacks else "info",
            message=f"the agent cannot use {each.name}, which the workflow prefers"
            if lacks
            else f"it is not known whether the agent can use {each.name}, which the workflow prefers",
            address=address,
            about=each.name,
            at=now,
        )


def open_questions(plan: Plan, state: RunState) -> list[JsonValue]:
    """List the capabilities that have not been observed yet, for the performer of a step."""
    declared = () if plan.guided is None else plan.guided.capabilities
    return [
        {"name": each.name, "level": each.level, "schema": schema_of(each.name), "example": example_of(each.name)}
        for each in declared
        if _is_open(state, each) and not _is_gap_recorded(state, each.name)
    ]


def _is_open(state: RunState, each: Capability) -> bool:
    """Whether the agent is asked about a capability: a required one that was missing may be available by now."""
    known = state.capabilities.get(each.name)
    return known is None or (known == "unavailable" and each.level == "required")


def capability_statuses(table: Sequence[KnownCapability], task: AgentTask, policy: AgentPolicy) -> dict[str, str]:
    """Return the capabilities that an agent's table states for a call, considering its access, tools and network."""
    sandbox, network = confinement(task, policy)
    offline = sandbox != "none" and not network
    return {each.name: _capability_status(each, task, offline=offline) for each in table}


def _capability_status(each: KnownCapability, task: AgentTask, *, offline: bool) -> str:
    tools = set(each.tools) - set(task.disallowed_tools)
    if task.allowed_tools is not None:
        tools &= set(task.allowed_tools)
    lacks = task.access not in each.access or (each.tools and not tools) or (offline and each.name == WEB)
    return "unavailable" if lacks else "available"


def check_before_call(plan: Plan, state: RunState, known: Mapping[str, str], place: "UpcomingCall") -> Event | None:
    """Decide what follows from what is known about the agent to be called; None if it may be called.

    What is known about an agent counts only for its own calls: another one may be able to do it.
    """
    for each in () if plan.guided is None else plan.guided.capabilities:
        found = known.get(each.name)
        if found == "available" and each.name not in state.capabilities:
            return CapabilityObserved(
                capability=each.name, status="available", detail=f"known of {place.agent}", by="", at=place.now
            )
        if found == "unavailable" and not _is_gap_recorded(state, each.name):
            return _decide_without(state, each, place)
    return None


def _decide_without(state: RunState, each: Capability, place: "UpcomingCall") -> Event:
    """Block if the workflow cannot do without the capability; else continue, and report it at the end."""
    lacks = f"{place.agent} cannot use {each.name} here"
    if each.level == "preferred":
        message = f"{lacks}, which the workflow prefers"
        return GapRecorded(
            category="capability_missing",
            severity="warning",
            message=message,
            address=place.address,
            about=each.name,
            at=place.now,
        )
    message = f"the workflow requires {each.name}, but {lacks}"
    shortfall = Shortfall("capability_unavailable", message, each.name)
    if split_shortfalls(state, (shortfall,))[1]:
        return gap_of(shortfall, place.address, place.now)
    return block_without_capability(state, each.name, place.address, message, place.now)


def block_without_capability(state: RunState, name: str, address: str, message: str, now: float) -> RunBlocked:
    """Ask a person about a capability that the workflow cannot do without: no further call provides it."""
    way = f"choose an agent that has {name}, or grant it access, then handrail resume {state.run}"
    if state.held_by:
        way = f"once the agent can use {name}, it must submit the step again with an artifact that says so"
    return RunBlocked(
        reason="capability",
        message=message,
        address=address,
        next_step=(
            f"{way}; or let the run continue without it: handrail prefer {state.run} --risk aggressive, then handrail"
            f" resume {state.run}"
        ),
        at=now,
    )


@frozen
class UpcomingCall:
    """The agent call that is about to be made."""

    agent: str
    address: str
    now: float


def _capabilities_at_level(plan: Plan, level: str) -> Iterator[Capability]:
    if plan.guided is not None:
        yield from (each for each in plan.guided.capabilities if each.level == level)


def _is_gap_recorded(state: RunState, name: str) -> bool:
    return any(
        gap["category"] == "capability_missing" and gap.get("about") == name and not gap.get("resolved")
        for gap in state.gaps
    )


def _find_observation(name: str, sent: Sequence[JsonValue]) -> JsonValue:
    """Find what was sent about a capability, although it says nothing certain."""
    found = [each for each in sent if isinstance(each, dict) and each.get("kind") == OBSERVATION]
    return next((each for each in reversed(found) if each.get("capability") == name), found[-1] if found else None)


def _unknown_shortfall(name: str, sent: JsonValue) -> Shortfall:
    message = f"the workflow requires {name}, and it is not known whether you can use it"
    fix = (
        "try it once in a harmless way, then submit the same output again together with this artifact; status is"
        " available, or unavailable if it failed or there is nothing to try it with"
    )
    example = example_of(name)
    return Shortfall("capability_unknown", message, name, fix, schema=schema_of(name), example=example, sent=sent)


def example_of(name: str) -> JsonValue:
    """Build an example of an observation."""
    return {
        "kind": OBSERVATION,
        "version": 1,
        "capability": name,
        "status": "available",
        "method": "probe",
        "evidence": "what came back",
    }


def schema_of(name: str) -> JsonValue:
    """Build the JSON Schema of an observation of one capability."""
    evidence: JsonValue = {"type": "string", "minLength": 1, "maxLength": MAX_EVIDENCE_LENGTH}
    return {
        "type": "object",
        "required": ["kind", "version", "capability", "status", "method", "evidence"],
        "properties": {
            "kind": {"const": OBSERVATION},
            "version": {"const": 1},
            "capability": {"const": name},
            "status": {"enum": [*_CERTAIN, "unknown"]},
            "method": {"enum": ["probe", "attempted_use", "claim"]},
            "evidence": evidence,
            "failureCode": {"enum": ["tool_missing", "tool_error", "policy_blocked", "unknown"]},
        },
        "additionalProperties": False,
    }
