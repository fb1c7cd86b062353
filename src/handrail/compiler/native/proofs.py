"""Lowers `done_when`, `checks` and `assess`: what must hold before a step is done."""

from handrail.compiler.native.context import Lowering, text_of, texts_of, whole
from handrail.compiler.native.texts import lower_command, lower_expression, lower_value
from handrail.model.source import Mapping, Node, Scalar, Sequence
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.actions import Checks, NamedCommand
from handrail.model.workflow.guidance import Assessment, Consequence, Dimension
from handrail.model.workflow.proofs import CommandProof, ExistsProof, ExpectProof, FilesProof, Proof, ReportProof

LEVELS = ("low", "medium", "high")


def lower_checks(work: Lowering, node: Node | None) -> Checks | None:
    """Lower `checks`: the project's own, or commands by name, which all run."""
    if node is None:
        return None
    if not isinstance(node, Mapping):
        return Checks(project=True)
    named = (NamedCommand(entry.name, lower_command(work, entry.value)) for entry in node)
    return Checks(commands=tuple(sorted(named, key=lambda each: each.name)))


def lower_proofs(work: Lowering, node: Node | None) -> tuple[Proof, ...]:
    """Lower `done_when`."""
    if not isinstance(node, Sequence):
        return ()
    return tuple(_proof(work, item) for item in node.items if isinstance(item, Mapping))


def _proof(work: Lowering, node: Mapping) -> Proof:
    code = node.get("exit")
    if code is not None and "fails" not in node:
        work.report.error("conflicting-keys", "'exit' belongs beside 'fails'", node.entries["exit"])
    for entry in node:
        value = entry.value
        match entry.name:
            case "passes":
                return CommandProof(lower_command(work, value))
            case "fails":
                return CommandProof(lower_command(work, value), "fail", whole(code, 0) or None)
            case "changed" | "unchanged":
                expect = "changed" if entry.name == "changed" else "unchanged"
                return FilesProof(lower_value(work, value), expect)
            case "exists":
                return ExistsProof(lower_value(work, value))
            case "report" if isinstance(value, Mapping):
                return ReportProof(lower_value(work, value.entries["junit"].value), whole(value.get("min_tests"), 1))
            case _:
                pass
    return ExpectProof(lower_expression(work, node.entries["expect"].value, boolean=True)[0])


def lower_assess(work: Lowering, node: Node | None, step: str) -> tuple[tuple[str, ...], tuple[Consequence, ...]]:
    """Lower `assess`: the assessment's id, and which levels send the step back."""
    if isinstance(node, Scalar):
        return _ready_made(work, node), ()
    if not isinstance(node, Mapping):
        return (), ()
    levels = texts_of(node.get("levels")) or LEVELS
    dimensions = node.get("dimensions")
    judged = tuple(_dimension(e.name, e.value, levels) for e in dimensions) if isinstance(dimensions, Mapping) else ()
    rationale = text_of(node.get("rationale")) != "optional"
    purpose = text_of(node.get("purpose")) or f"judgment of step {step}"
    ordered = tuple(sorted(judged, key=lambda each: each.id))
    work.assessments[step] = Assessment(step, purpose, ordered, rationale)
    return (step,), _consequences(work, node, ordered)


def _ready_made(work: Lowering, node: Scalar) -> tuple[str, ...]:
    wanted = str(node.value)
    found = work.catalog.builtins.assessment(wanted)
    if found is None:
        known = work.catalog.builtins.assessment_ids()
        guess = did_you_mean(wanted, known)
        hint = "ready-made: " + ", ".join(known)
        work.report.error("unknown-assessment", f"there is no assessment '{wanted}'{guess}", node, hint)
        return ()
    work.assessments[wanted] = found
    return (wanted,)


def _dimension(name: str, node: Node, levels: tuple[str, ...]) -> Dimension:
    if not isinstance(node, Mapping):
        return Dimension(name, text_of(node) or "", levels)
    required = node.get("required")
    optional = isinstance(required, Scalar) and required.value is False
    return Dimension(name, text_of(node.get("purpose")) or "", texts_of(node.get("levels")) or levels, not optional)


def _consequences(work: Lowering, node: Mapping, judged: tuple[Dimension, ...]) -> tuple[Consequence, ...]:
    place = node.get("follow_up_when")
    if place is None:
        return ()
    guidance = text_of(node.get("guidance")) or "Raise the dimensions that are too low, then answer again."
    known = {level for dimension in judged for level in dimension.levels}
    items = place.items if isinstance(place, Sequence) else (place,)
    found: list[Consequence] = []
    for item in items:
        level = text_of(item) or ""
        if level not in known:
            hint = "levels are " + ", ".join(sorted(known))
            work.report.error("unknown-level", f"no dimension has the level '{level}'", item, hint)
        found.append(Consequence(level, guidance))
    return tuple(found)
