"""Proves that a file passes a check of the project, or that a test in it fails.

A test that cannot be compiled, loaded or collected has not failed: exit codes alone do not always distinguish the two,
so a pattern in the output or a report may have to show the failing test.
"""

import asyncio
import re
from contextlib import suppress

from handrail.language.patterns.match import BadPattern
from handrail.language.patterns.read import pattern_of
from handrail.language.shell.one_argument import quote_variable
from handrail.model.workflow.proofs import CheckProof
from handrail.model.workflow.settings import FileCheck
from handrail.runtime.handlers.commands.outcomes import Result
from handrail.runtime.handlers.commands.start_command import (
    CommandContext,
    CommandStarter,
    LostCommand,
    ResolvedCommand,
)
from handrail.runtime.handlers.proofs.file_evidence import ProofContext, ProofError, build_result, evaluate_value
from handrail.runtime.handlers.proofs.junit import MAX_BYTES, read_junit
from handrail.runtime.handlers.proofs.results import KILLED, ProofResult, collapse_lines, describe_result
from handrail.runtime.handlers.proofs.workspace_files import UnusablePath, read_inside, resolve_inside

FILE = "FILE"
MAX_LINE_LENGTH = 2000
"""How much of a line of output a pattern is searched in, in characters."""
BROKEN = "a test that cannot be compiled, loaded or collected proves nothing"
_PLACE = re.compile(r"\$(FILE\b|\{FILE\b)")
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def script_of(command: str) -> str:
    """Build the script of a check: the file replaces `$FILE`, or follows as one argument."""
    return quote_variable(command, FILE) if _PLACE.search(command) else f'{command} "${FILE}"'


async def check_file(
    starts: CommandStarter, ctx: ProofContext, effect: CommandContext, proof: CheckProof, slot: str
) -> ProofResult:
    """Run the check on the file, and judge the result."""
    wanted = "passes" if proof.expect == "pass" else "shows a failing test"
    check = next((each for each in ctx.project.file_checks if each.name == proof.check), None)
    if check is None:
        return build_result(ctx, proof, f"{proof.check} {wanted}", f"there is no [checks.{proof.check}] in config.toml")
    try:
        file = _file(ctx, proof)
    except (ProofError, UnusablePath) as error:
        return build_result(ctx, proof, f"{proof.check} {wanted}", str(error))
    shown = collapse_lines(_PLACE.sub(lambda _: file, check.command.replace("${FILE}", "$FILE")))
    shown = shown if _PLACE.search(check.command) else f"{shown} {file}"
    if not any(starts.find_starts(effect, slot)):
        _forget_report(ctx, check)
    order = ResolvedCommand(slot, shown, script_of(check.command), {FILE: file}, shown=shown)
    ended = await starts.run(effect, order)
    what = f"{shown} {wanted}"
    if isinstance(ended, LostCommand):
        return build_result(ctx, proof, what, f"it {ended.why}")
    reason = await asyncio.to_thread(_explain_failure, ctx, proof, check, ended)
    detail = describe_result(reason, ended.code, ended.stdout, ended.stderr)
    return ProofResult("check", what, not reason, detail, ctx.tree, ended.code)


def _file(ctx: ProofContext, proof: CheckProof) -> str:
    found = evaluate_value(ctx, proof.file)
    if not isinstance(found, str):
        raise ProofError("it needs the path of one file")
    if not resolve_inside(ctx.workspace, found).is_file():
        raise ProofError(f"{collapse_lines(found)} is not a file")
    # A name that begins with a hyphen would be read as an option.
    return f"./{found}" if found.startswith("-") else found


def _forget_report(ctx: ProofContext, check: FileCheck) -> None:
    """Remove the report of an earlier run, so that only what this run writes counts."""
    if check.report:
        with suppress(UnusablePath, OSError):
            resolve_inside(ctx.workspace, check.report).unlink()


def _explain_failure(ctx: ProofContext, proof: CheckProof, check: FileCheck, ended: Result) -> str:
    """Return why a check that ended is not a proof; empty when it is one."""
    code = ended.code
    if code is None or ended.error:
        return ended.error or "it did not exit"
    if proof.expect == "pass":
        return "" if code == 0 else f"it exited with {code}"
    if code == 0:
        return "it passed, but a test in the file must fail"
    if code in KILLED:
        return f"it was killed (exit {code}), which proves nothing"
    return _explain_missing_failure(ctx, check, ended)


def _explain_missing_failure(ctx: ProofContext, check: FileCheck, ended: Result) -> str:
    codes = check.failed or (() if check.report or check.failed_when else (1,))
    if codes and ended.code not in codes:
        meant = " or ".join(map(str, codes))
        return f"it exited with {ended.code}, but only {meant} means a failing test: {BROKEN}"
    if check.failed_when and not _is_found(check.failed_when, ended.stdout + "\n" + ended.stderr):
        return f"it exited with {ended.code}, but no line of its output matches {check.failed_when}: {BROKEN}"
    return _check_report(ctx, check.report) if check.report else ""


def _is_found(pattern: str, output: str) -> bool:
    try:
        wanted = pattern_of(pattern)
    except BadPattern:
        return False
    return any(wanted.has_match(line[:MAX_LINE_LENGTH].rstrip()) for line in _COLOURS.sub("", output).splitlines())


def _check_report(ctx: ProofContext, path: str) -> str:
    try:
        counted = read_junit(read_inside(ctx.workspace, path, MAX_BYTES, None))
    except (UnusablePath, ValueError) as error:
        return f"its report {path} shows no failing test: {error}"
    return "" if counted.failures else f"its report {path} shows no failing test: {BROKEN}"
