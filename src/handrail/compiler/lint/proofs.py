"""Gates and proofs that cannot pass, and gates that hide failures."""

import re
from collections.abc import Iterator

from handrail.authoring.native.steps import STEPS
from handrail.authoring.readers.locate import span_at
from handrail.authoring.shapes.conform import choose
from handrail.compiler.constant import constant_truth
from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.shell import split_and
from handrail.compiler.lint.walk import Visit, scalar
from handrail.language.shell.known_outcome import ALWAYS_FAILS, ALWAYS_PASSES
from handrail.model.source import Mapping, Node, Scalar, Sequence
from handrail.model.workflow.proofs import CheckProof, CommandProof, ExpectProof, FilesProof, Proof
from handrail.model.workflow.values import Constant, Value


def lint_impassable_gates(context: LintContext) -> None:
    """Warn of checks that fail regardless of the code."""
    for visit in context.own:
        for what, node in _checks(visit):
            if isinstance(node, Scalar) and ALWAYS_FAILS.fullmatch(str(node.value)):
                message = f"{what} can never pass: `{str(node.value).strip()}` always fails"
                hint = "write the command that checks the work; to end the run there use `type: end`"
                context.report.warning("gate-cannot-pass", message, node, hint)
        _contradictions(context, visit, visit.step.done_when)


def _checks(visit: Visit) -> Iterator[tuple[str, Node]]:
    node = visit.node
    if node is None:
        return
    command, checks = node.get("command"), node.get("checks")
    if command is not None and visit.step.action.kind == "gate":
        yield "the gate", command
    for entry in checks if isinstance(checks, Mapping) else ():
        yield f"the check '{entry.name}'", entry.value


def _contradictions(context: LintContext, visit: Visit, proofs: tuple[Proof, ...]) -> None:
    written = visit.node.get("done_when") if visit.node is not None else None
    if not isinstance(written, Sequence) or len(written.items) != len(proofs):
        return
    for index, proof in enumerate(proofs):
        why = _explain_impossible(proof) or next(
            filter(None, (_explain_conflict(proof, other) for other in proofs[max(0, index - 100) : index])), None
        )
        if why is not None:
            hint = "remove one of them; a step is done only when all of them hold"
            message = f"`done_when` can never be met: {why}"
            context.report.warning("gate-cannot-pass", message, _first_value(written.items[index]), hint)


def _first_value(node: Node) -> Node:
    entries = [entry for entry in node if entry.name != "exit"] if isinstance(node, Mapping) else []
    return entries[0].value if entries else node


def _explain_impossible(proof: Proof) -> str | None:
    match proof:
        case CommandProof(command, "pass") if ALWAYS_FAILS.fullmatch(command.script):
            return f"`{command.script.strip()}` always fails"
        case CommandProof(command, "fail") if ALWAYS_PASSES.fullmatch(command.script):
            return f"`{command.script.strip()}` always passes"
        case ExpectProof(condition) if constant_truth(condition) is False:
            return "`expect` is always false"
        case _:
            return None


def _explain_conflict(proof: Proof, other: Proof) -> str | None:
    match proof, other:
        case CommandProof(left, now), CommandProof(right, before) if left == right and now != before:
            return "the same command must both pass and fail"
        case CheckProof(), CheckProof() if (proof.check, proof.file) == (other.check, other.file) and proof != other:
            return "the same file must both pass and fail"
        case FilesProof(left, now), FilesProof(right, before) if now != before:
            changed, unchanged = (left, right) if now == "changed" else (right, left)
            return _files(changed, unchanged)
        case _:
            return None


def _files(changed: Value, unchanged: Value) -> str | None:
    if changed == unchanged:
        return "the same files must be changed and unchanged"
    wanted, kept = _globs(changed), _globs(unchanged)
    if wanted and wanted <= kept:
        return f"`{', '.join(sorted(wanted))}` must be changed and unchanged"
    return None


def _globs(value: Value) -> set[str]:
    match value:
        case Constant(str() as glob):
            return {glob}
        case Constant(list() as globs):
            return {str(glob) for glob in globs}
        case _:
            return set()


SETTING_UP = re.compile(r"(?:cd|pushd|export|source|\.|set|mkdir|ulimit|umask|nvm|\[|test|command)(?:\s|$)|\w+=\S*$")
"""Beginnings of commands that prepare or guard a check rather than being one."""


def lint_hidden_failures(context: LintContext) -> None:
    """Advise against joining checks with &&, which hides what comes after the first failure."""
    for visit in context.own:
        written = scalar(visit.node, "command")
        if written is None or visit.node is None or choose(STEPS, visit.node) != "gate":
            continue
        parts = split_and(str(written.value))
        checks = [part for part in parts if not SETTING_UP.match(part.text)]
        if len(checks) > 1:
            message = "`&&` hides what fails after the first failing check"
            names = ", ".join(f"`{part.text}`" for part in checks)
            hint = f"give each check its own name under `checks`, so that all of them run: {names}"
            at = span_at(written, checks[1].joined_at, checks[1].joined_at + 2)
            context.report.advice("hidden-by-and", message, at, hint)
