"""Determines what decides a loop, and checks that each kind of loop has the keys it needs."""

from handrail.compiler.workrail.conditions import lower_condition, optional_condition
from handrail.compiler.workrail.environment import StepContext
from handrail.compiler.workrail.message_names import quote_name
from handrail.compiler.workrail.tree import mapping, mappings, text
from handrail.model.source import Mapping, Scalar
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.guidance import ArtifactDecides, ContextDecides

LOOP_CONTROL = "wr.contracts.loop_control"
CONDITION_KEYS = ("condition", "conditionSource")
OWN_KEYS: dict[str, tuple[str, ...]] = {
    "while": CONDITION_KEYS,
    "until": CONDITION_KEYS,
    "for": ("count",),
    "forEach": ("items", "itemVar", "indexVar"),
}
NEEDED = {"for": "count", "forEach": "items"}


def loop_body(step: Mapping, setting: StepContext) -> tuple[Mapping, ...]:
    """Return the steps a loop repeats: its own, or the top-level step it names."""
    body = step.entries["body"].value
    if not isinstance(body, Scalar):
        return mappings(step, "body")
    name = str(body.value)
    found = setting.bodies.get(name)
    if found is None:
        message = f"no top-level step has the id '{name}'{did_you_mean(name, setting.bodies)}"
        hint = "name a top-level step, or write the body as a list of steps"
        if any(origin.at == name for origin in setting.injected.values()):
            hint = "the step calls a template; write the call in the body, as a list"
        setting.report.error("unknown-loop-body", message, body, hint)
        return ()
    if "loop" in found:
        hint = "write the inner loop in the body, as a list"
        setting.report.error("unknown-loop-body", f"the body cannot be the loop '{name}'", body, hint)
        return ()
    return (found,)


def find_body_steps(root: Mapping, steps: dict[str, Mapping]) -> frozenset[str]:
    """Return the ids of top-level steps that loops name as their body, and that therefore never run on their own."""
    found: set[str] = set()
    pending = list(mappings(root, "steps"))
    while pending:
        step = pending.pop()
        body = text(step, "body")
        if body is not None and body in steps and "loop" not in steps[body]:
            found.add(body)
        pending.extend(mappings(step, "body"))
    return frozenset(found)


def check_loop(step: Mapping, setting: StepContext) -> None:
    """Report the keys that a loop of its kind lacks, and those that have no effect on it."""
    loop = mapping(step, "loop") or step
    kind = text(loop, "type") or ""
    needed = NEEDED.get(kind)
    if needed is not None and needed not in loop:
        place = loop.entries["type"].value
        setting.report.error("loop-incomplete", f"a loop of type {kind} needs '{needed}'", place)
    foreign = {name for names in OWN_KEYS.values() for name in names} - set(OWN_KEYS[kind])
    if "conditionSource" in loop:
        foreign.add("condition")
    for entry in loop:
        if entry.name in foreign:
            decides = "beside 'conditionSource'" if entry.name in OWN_KEYS[kind] else f"on a loop of type {kind}"
            setting.report.warning("no-effect", f"'{entry.name}' has no effect {decides}", entry, "remove it")


def find_decider(
    step: Mapping, body: tuple[Mapping, ...], setting: StepContext
) -> ArtifactDecides | ContextDecides | None:
    """Return what decides a while or until loop: its own statement, else a body step's contract, else its condition."""
    loop = mapping(step, "loop") or step
    if text(loop, "type") not in {"while", "until"}:
        return None
    controlled = any(_has_loop_control(each) for each in body)
    source = mapping(loop, "conditionSource")
    if source is not None:
        return _lower_condition_source(source, setting, controlled=controlled)
    if controlled:
        return ArtifactDecides(LOOP_CONTROL, text(step, "id"))
    condition = optional_condition(loop, "condition", setting.report)
    if condition is None:
        hint = f"add 'condition', or give a step of the body the output contract {LOOP_CONTROL}"
        message = f"a loop of type {text(loop, 'type')} needs 'condition' or 'conditionSource'"
        setting.report.error("loop-incomplete", message, loop.entries["type"].value, hint)
        return None
    return ContextDecides(condition)


def _has_loop_control(step: Mapping) -> bool:
    contract = mapping(step, "outputContract")
    return contract is not None and text(contract, "contractRef") == LOOP_CONTROL


def _lower_condition_source(
    source: Mapping, setting: StepContext, *, controlled: bool
) -> ArtifactDecides | ContextDecides:
    condition = mapping(source, "condition")
    if condition is not None:
        return ContextDecides(lower_condition(condition, setting.report))
    ref = text(source, "contractRef") or ""
    place = source.entries["contractRef"].value
    if ref != LOOP_CONTROL:
        message = f"{quote_name(ref)} cannot decide a loop{did_you_mean(ref, (LOOP_CONTROL,))}"
        setting.report.error("unknown-contract", message, place, f"use {LOOP_CONTROL}")
    elif not controlled:
        message = "no step of the body is required to return the artifact that decides the loop"
        hint = f"give one of them the output contract {LOOP_CONTROL}; otherwise the loop may run to maxIterations"
        setting.report.warning("loop-undecided", message, place, hint)
    return ArtifactDecides(ref, text(source, "loopId"))


def loop_count(loop: Mapping) -> int | str | None:
    """Return the rounds of a for loop: a number, or the variable that holds it."""
    count = loop.get("count")
    value = count.value if isinstance(count, Scalar) else None
    return value if isinstance(value, int | str) else None
