"""Lowers `done_when`, `checks` and `assess`: what must hold before a step is done."""

from dataclasses import replace
from typing import Literal

from handrail.compiler.native.context import Lowering, flag_of, int_of, text_of, texts_of
from handrail.compiler.native.texts import lower_command, lower_expression, lower_value, refs_in
from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.actions import Checks, NamedCommand
from handrail.model.workflow.guidance import Assessment, Consequence, Dimension
from handrail.model.workflow.proofs import (
    CheckProof,
    CommandProof,
    ExistsProof,
    ExpectProof,
    FilesProof,
    Proof,
    ReportProof,
)

LEVELS = ("low", "medium", "high")


def lower_checks(work: Lowering, node: Node | None) -> Checks | None:
    """Lower `checks`: those of the project, or named commands, all of which run."""
    if node is None:
        return None
    if not isinstance(node, Mapping):
        return Checks(project=True)
    named = (NamedCommand(entry.name, lower_command(work, entry.value)) for entry in node)
    return Checks(commands=tuple(sorted(named, key=lambda each: each.name)))


def lower_proofs(work: Lowering, node: Node | None, output: str = "") -> tuple[Proof, ...]:
    """Lower the `done_when` of a step that has the given output."""
    if not isinstance(node, Sequence):
        return ()
    return tuple(_proof(work, item, output) for item in node.items if isinstance(item, Mapping))


def _proof(work: Lowering, node: Mapping, output: str) -> Proof:
    code = node.get("exit")
    _require_place_of_exit(work, node)
    for entry in node:
        value = entry.value
        match entry.name:
            case "passes":
                return _command_proof(work, value, "pass", None)
            case "fails":
                return _command_proof(work, value, "fail", int_of(code, 0) or None)
            case "changed" | "unchanged":
                return _files(work, entry, output)
            case "exists":
                return ExistsProof(lower_value(work, value))
            case "report" if isinstance(value, Mapping):
                return ReportProof(lower_value(work, value.entries["junit"].value), int_of(value.get("min_tests"), 1))
            case _:
                pass
    return ExpectProof(lower_expression(work, node.entries["expect"].value, boolean=True)[0])


def _files(work: Lowering, entry: Entry, output: str) -> FilesProof:
    """Lower globs, alone or in a map; files that are recorded when a step begins cannot depend on its result."""
    node = entry.value
    if not isinstance(node, Mapping):
        return FilesProof(lower_value(work, node), "changed" if entry.name == "changed" else "unchanged")
    paths = node.entries["paths"].value
    proof = FilesProof(lower_value(work, paths), "unchanged", flag_of(node.get("ignored")))
    if proof.ignored and output and any(ref.parts[0] == output for ref in refs_in(proof.globs)):
        message = f"'{output}' is known when the step ends, but `ignored: true` needs the files when it starts"
        hint = "use values that are known before the step, or leave out `ignored`"
        work.report.error("used-before-produced", message, paths, hint)
    return proof


def _require_place_of_exit(work: Lowering, node: Mapping) -> None:
    if "exit" in node and "fails" not in node:
        work.report.error("conflicting-keys", "'exit' belongs beside 'fails'", node.entries["exit"])
    elif "exit" in node and isinstance(node.get("fails"), Mapping):
        hint = "config.toml defines which exit codes mean a failing test, as `failed`"
        message = "'exit' belongs beside 'fails' with a command"
        work.report.error("conflicting-keys", message, node.entries["exit"], hint)


def _command_proof(work: Lowering, node: Node, expect: Literal["pass", "fail"], code: int | None) -> Proof:
    if isinstance(node, Mapping):
        return CheckProof(text_of(node.get("check")) or "", lower_value(work, node.entries["file"].value), expect)
    return CommandProof(lower_command(work, node), expect, code)


def lower_assess(work: Lowering, node: Node | None, step: str) -> tuple[tuple[str, ...], tuple[Consequence, ...]]:
    """Lower `assess`: the ids of the assessments, and the levels that send the step back."""
    if isinstance(node, Mapping):
        lower_assessment(work, step, node, f"judgment of step {step}")
        return (step,), tuple(replace(each, for_assessment=None) for each in work.follow_ups[step])
    named = node.items if isinstance(node, Sequence) else () if node is None else (node,)
    found = tuple(str(each.value) for each in named if isinstance(each, Scalar) and _is_known(work, each))
    return found, tuple(each for name in found for each in work.follow_ups.get(name, ()))


def lower_assessment(work: Lowering, name: str, node: Node, otherwise: str = "") -> None:
    """Lower an assessment that is written out, under its own name or the address of its step."""
    if not isinstance(node, Mapping):
        return
    levels = texts_of(node.get("levels")) or LEVELS
    dimensions = node.get("dimensions")
    judged = tuple(_dimension(e.name, e.value, levels) for e in dimensions) if isinstance(dimensions, Mapping) else ()
    rationale = text_of(node.get("rationale")) != "optional"
    purpose = text_of(node.get("purpose")) or otherwise or f"judgment of {name}"
    ordered = tuple(sorted(judged, key=lambda each: each.id))
    assessment = Assessment(name, purpose, ordered, rationale)
    if work.assessments.setdefault(name, assessment) != assessment:
        message = f"the assessment '{name}' is declared differently by the workflow that uses this one"
        work.report.error("duplicate-assessment", message, node, "rename one of them")
    work.follow_ups[name] = _consequences(work, name, node, ordered)


def _is_known(work: Lowering, node: Scalar) -> bool:
    """Whether an assessment of that name exists; one from the library becomes part of the workflow."""
    wanted = str(node.value)
    if wanted in work.follow_ups:
        return True
    found = work.catalog.builtins.assessment(wanted)
    if found is None:
        known = (*work.follow_ups, *work.catalog.builtins.assessment_ids())
        guess = did_you_mean(wanted, known)
        hint = "declare it in 'assessments', or use one of: " + ", ".join(known)
        work.report.error("unknown-assessment", f"there is no assessment '{wanted}'{guess}", node, hint)
        return False
    work.assessments[wanted] = found
    return True


def _dimension(name: str, node: Node, levels: tuple[str, ...]) -> Dimension:
    if not isinstance(node, Mapping):
        return Dimension(name, text_of(node) or "", levels)
    required = node.get("required")
    optional = isinstance(required, Scalar) and required.value is False
    return Dimension(name, text_of(node.get("purpose")) or "", texts_of(node.get("levels")) or levels, not optional)


def _consequences(work: Lowering, name: str, node: Mapping, judged: tuple[Dimension, ...]) -> tuple[Consequence, ...]:
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
            hint = "the levels are " + ", ".join(sorted(known))
            work.report.error("unknown-level", f"no dimension has the level '{level}'", item, hint)
        found.append(Consequence(level, guidance, name))
    return tuple(found)
