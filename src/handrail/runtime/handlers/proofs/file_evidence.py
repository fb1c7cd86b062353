"""Evidence that needs no command: files that changed, paths, conditions and reports of tests."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING

from handrail.engine.contracts.fit_type import describe_value
from handrail.engine.state.scope import parse_expression, render_value
from handrail.engine.text.globs import glob_problem, literal_folders, match_paths
from handrail.errors import HandrailError
from handrail.frozen import frozen
from handrail.language.problems import EvaluationError, LanguageError
from handrail.late_import import late_import
from handrail.model.workflow.proofs import ExistsProof, ExpectProof, FilesProof, Proof, ReportProof
from handrail.model.workflow.settings import NO_PROJECT, Project
from handrail.model.workflow.values import Expression, JsonValue, Value
from handrail.runtime.handlers.proofs.results import ProofResult, collapse_lines

if TYPE_CHECKING:
    from handrail.engine.contracts import schema
    from handrail.runtime.handlers.proofs import junit, workspace_files
else:
    junit = late_import("handrail.runtime.handlers.proofs.junit")
    workspace_files = late_import("handrail.runtime.handlers.proofs.workspace_files")
    schema = late_import("handrail.engine.contracts.schema")

MAX_PATHS = 10
MAX_SKIPPED = 20
MAX_NAMES = 3000
"""How many characters the names of skipped files may take."""
MAX_VALUE = 120
RECORDED = "recorded_files"
"""The key under which the intent of a step names the record of the ignored files that it must leave alone."""
COARSE = 0.05
"""Seconds by which a file's timestamp may lag behind the clock."""


@frozen(kw_only=True)
class ProofContext:
    """The step whose proofs are tried."""

    run: str
    seq: int
    """The sequence number of the step's intent."""
    workspace: str
    tree: str
    """The id of the worktree's current content."""
    proofs: tuple[Proof, ...]
    evaluate: Callable[[Expression], JsonValue]
    """Evaluates an expression with the run's names and the step's own result."""
    value: Callable[[Value], JsonValue]
    changed: Callable[[], Iterable[str]]
    """Paths that changed since the step began, including those of deleted and renamed files."""
    ignored: Callable[[tuple[str, ...]], Awaitable[tuple[str, ...]]] | None = None
    """Lists the ignored files below some paths, which are therefore not among those that changed."""
    differing: Callable[[tuple[str, ...]], Awaitable[tuple[str, ...]]] | None = None
    """Lists the files of some globs, including ignored ones, that differ from what was recorded when the step began."""
    env: dict[str, str] = field(default_factory=dict[str, str])
    timeout: float | None = None
    """The timeout for all proofs together, in seconds."""
    project: Project = NO_PROJECT
    """How the project checks single files."""
    began_at: float | None = None
    """When the step began: a report that is older does not count."""
    on_lost: Callable[[], Awaitable[None]] | None = None
    """Restores the files, before a command whose start was lost is started again."""


class ProofError(Exception):
    """A proof cannot be tried; the message explains why."""


def build_result(ctx: ProofContext, proof: Proof, what: str, reason: str, fine: str = "") -> ProofResult:
    """Build the result of a proof that holds unless a reason against it is given."""
    return ProofResult(proof.kind, collapse_lines(what), not reason, collapse_lines(reason or fine), ctx.tree)


def evaluate_value(ctx: ProofContext, value: Value) -> JsonValue:
    """Evaluate a value of a proof."""
    try:
        return ctx.evaluate(value) if isinstance(value, Expression) else ctx.value(value)
    except (LanguageError, EvaluationError) as error:
        raise ProofError(f"it cannot be evaluated: {error.problem.message}") from error


def evaluate_text(ctx: ProofContext, value: Value) -> str:
    """Evaluate a value of a proof as text."""
    try:
        return render_value(evaluate_value(ctx, value))
    except EvaluationError as error:
        raise ProofError(f"it cannot be evaluated: {error.problem.message}") from error


@frozen
class SeenFiles:
    """The files that file proofs look at."""

    changed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    """Ignored files that differ, where they count."""
    unknown: str = ""
    """Why the ignored files that differ are not known."""


async def look_at_files(ctx: ProofContext) -> SeenFiles:
    """List the changed files, and the ignored files where nothing may have changed."""
    proofs = [each for each in ctx.proofs if isinstance(each, FilesProof)]
    if not proofs:
        return SeenFiles()
    kept = [each for each in proofs if each.expect == "unchanged"]
    globs = _evaluate_globs(ctx, [each for each in kept if not each.ignored])
    ignored = await ctx.ignored(literal_folders(globs)) if ctx.ignored and globs else ()
    strict = _evaluate_globs(ctx, [each for each in kept if each.ignored])
    differing, unknown = await _look_at_ignored(ctx, strict) if strict else ((), "")
    return SeenFiles(tuple(ctx.changed()), ignored, differing, unknown)


async def _look_at_ignored(ctx: ProofContext, globs: set[str]) -> tuple[tuple[str, ...], str]:
    """List the ignored files that have changed, or explain why that is not known, which proves nothing."""
    if ctx.differing is None:
        return (), "the ignored files were not recorded when the step started"
    try:
        return await ctx.differing(tuple(sorted(globs))), ""
    except HandrailError as error:
        return (), f"it is not known whether ignored files changed: {error.message}"


def _evaluate_globs(ctx: ProofContext, proofs: Iterable[FilesProof]) -> set[str]:
    globs: set[str] = set()
    for proof in proofs:
        with suppress(ProofError):
            globs.update(globs_of(evaluate_value(ctx, proof.globs)))
    return globs


def prove_files(ctx: ProofContext, proof: FilesProof, seen: SeenFiles) -> ProofResult:
    """Prove that some file was changed, or that none was."""
    changed = seen.changed
    try:
        globs = globs_of(evaluate_value(ctx, proof.globs))
    except ProofError as error:
        return build_result(ctx, proof, f"{proof.expect}: files", str(error))
    found = match_paths(globs, (*changed, *seen.differing) if proof.ignored else changed)
    if proof.expect == "changed":
        reason = "" if found else _list_paths("no matching file changed, only", changed)
    else:
        reason = _list_paths("must not change, but did", found) if found else ""
    reason = reason or (seen.unknown if proof.ignored else "")
    fine = _list_paths("changed", found) if found else "no matching file changed"
    too = " (ignored files too)" if proof.ignored else ""
    result = build_result(ctx, proof, f"{proof.expect}: {', '.join(globs)}{too}", reason, fine)
    skipped = _describe_skipped(globs, seen.ignored) if proof.expect == "unchanged" and not proof.ignored else ""
    return replace(result, detail=f"{result.detail}\n{skipped}") if skipped else result


def _describe_skipped(globs: list[str], ignored: tuple[str, ...]) -> str:
    """Name the ignored files that some glob matches, and the ignored folders, whose files are not listed one by one."""
    tops = [f"{top}/" if top else "" for top in literal_folders(globs)]
    near = (each for each in ignored if any(each.startswith(top) or top.startswith(each) for top in tops))
    folders = [each for each in near if each.endswith("/")]
    found = sorted(folders) + match_paths(globs, (each for each in ignored if not each.endswith("/")))
    if not found:
        return ""
    more = f" and {len(found) - MAX_SKIPPED} more" if len(found) > MAX_SKIPPED else ""
    return f"ignored by git, not checked: {', '.join(map(collapse_lines, found[:MAX_SKIPPED]))}"[:MAX_NAMES] + more


def globs_of(value: JsonValue) -> list[str]:
    """Return the globs that a value holds; raises NoEvidence where it holds something else."""
    found = value if isinstance(value, list) else [value]
    globs = [each for each in found if isinstance(each, str)]
    if len(globs) != len(found):
        raise ProofError(f"expected globs, got {describe_value(value)}")
    plain = [each.removeprefix("!") for each in globs]
    odd = [
        f"the glob {schema.preview_value(each)} {problem}"
        for each in plain
        if (problem := glob_problem(each)) is not None
    ]
    if odd:
        raise ProofError("; ".join(odd))
    if globs and all(each.startswith("!") for each in globs):
        raise ProofError("all of its globs are exceptions (they start with '!'), so they match nothing")
    return globs


def _list_paths(said: str, paths: Iterable[str]) -> str:
    known = sorted(paths)
    more = f" and {len(known) - MAX_PATHS} more" if len(known) > MAX_PATHS else ""
    return f"{said}: {', '.join(known[:MAX_PATHS]) or 'nothing'}{more}"


def prove_path(ctx: ProofContext, proof: ExistsProof) -> ProofResult:
    """Prove that a path exists."""
    path, reason = "the path", ""
    try:
        path = _path(ctx, proof.path)
        workspace_files.resolve_inside(ctx.workspace, path)
    except (ProofError, workspace_files.UnusablePath) as error:
        reason = str(error)
    return build_result(ctx, proof, f"{path} exists", reason, "it exists")


def _path(ctx: ProofContext, value: Value) -> str:
    found = evaluate_value(ctx, value)
    if not isinstance(found, str):
        raise ProofError(f"expected a path, got {describe_value(found)}")
    return found


def prove_condition(ctx: ProofContext, proof: ExpectProof) -> ProofResult:
    """Prove that a condition is true."""
    what = f"expect: {proof.condition.source}"
    try:
        found = evaluate_value(ctx, proof.condition)
    except ProofError as error:
        return build_result(ctx, proof, what, str(error))
    if found is True:
        return build_result(ctx, proof, what, "", "it is true")
    said = "it is false" if found is False else f"expected true or false, got {describe_value(found)}"
    return build_result(ctx, proof, what, said + _read(ctx, proof.condition))


def _read(ctx: ProofContext, condition: Expression) -> str:
    """Describe the values that a condition was decided on."""
    read: list[str] = []
    for ref in parse_expression(condition.source)[1]:
        try:
            value = json.dumps(evaluate_value(ctx, Expression(ref.path)), ensure_ascii=False)
        except ProofError:
            continue
        read.append(f"; {ref.path} is {value[:MAX_VALUE]}{'…' if len(value) > MAX_VALUE else ''}")
    return "".join(read)


async def report(ctx: ProofContext, proof: ReportProof) -> ProofResult:
    """Prove by a JUnit report that enough tests ran and none failed."""
    path, fine = "the report", ""
    since = None if ctx.began_at is None else ctx.began_at - COARSE
    try:
        path = _path(ctx, proof.junit)
        counted = await asyncio.to_thread(_count_tests, ctx.workspace, path, since)
        reason, fine = _explain_shortfall(counted, proof.min_tests), _numbers(counted)
    except (ProofError, workspace_files.UnusablePath, ValueError) as error:
        reason = str(error)
    tests = f"{proof.min_tests} test{'' if proof.min_tests == 1 else 's'}"
    return build_result(ctx, proof, f"{path} shows that at least {tests} ran and none failed", reason, fine)


def _count_tests(workspace: str, path: str, since: float | None) -> "junit.ReportCounts":
    return junit.read_junit(workspace_files.read_inside(workspace, path, junit.MAX_BYTES, since))


def _explain_shortfall(counted: "junit.ReportCounts", least: int) -> str:
    if counted.failures or counted.errors:
        return f"some tests failed: {_numbers(counted)}"
    return "" if counted.run_count >= least else f"too few tests ran: {_numbers(counted)}"


def _numbers(counted: "junit.ReportCounts") -> str:
    return f"{counted.tests} tests, {counted.failures} failed, {counted.errors} errors, {counted.skipped} skipped"
