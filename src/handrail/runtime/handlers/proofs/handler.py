"""Tries what must hold before a step is done, after its performer says that it is done.

1. All proofs are tried, in order, so that all failures are reported at once. Changed files are listed before the first
command runs: what a check leaves behind is not the step's work.
2. A command is run like a step's commands: it survives us, and is adopted. Values never become shell text.
3. What proves nothing is not a proof: a command that could not start, was killed or took too long has not failed.
"""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.workflow.proofs import CheckProof, CommandProof, ExistsProof, ExpectProof, FilesProof, ReportProof
from handrail.model.workflow.values import Command
from handrail.runtime.handlers.commands.outcomes import Result
from handrail.runtime.handlers.commands.start_command import (
    CANNOT_START,
    GRACE,
    CommandContext,
    CommandStarter,
    LostCommand,
    ResolvedCommand,
)
from handrail.runtime.handlers.proofs.file_evidence import (
    ProofContext,
    ProofError,
    build_result,
    evaluate_text,
    look_at_files,
    prove_condition,
    prove_files,
    prove_path,
    report,
)
from handrail.runtime.handlers.proofs.results import KILLED, ProofResult, collapse_lines, describe_result

if TYPE_CHECKING:
    from handrail.runtime.handlers.proofs import file_checks
else:
    file_checks = late_import("handrail.runtime.handlers.proofs.file_checks")

SLOT = "proof-"
"""The prefix of the folders of their commands."""


@frozen
class ProofHandler:
    """Tries proofs."""

    starts: CommandStarter
    folder: Path

    async def establish(self, ctx: ProofContext) -> tuple[ProofResult, ...]:
        """Try every proof."""
        until = None if ctx.timeout is None else asyncio.get_running_loop().time() + ctx.timeout
        effect = self._effect(ctx, until)
        seen = await look_at_files(ctx)
        results: list[ProofResult] = []
        for number, proof in enumerate(ctx.proofs):
            match proof:
                case CommandProof():
                    results.append(await self._prove_command(ctx, effect, proof, number))
                case CheckProof():
                    results.append(await file_checks.check_file(self.starts, ctx, effect, proof, f"{SLOT}{number}"))
                case FilesProof():
                    results.append(prove_files(ctx, proof, seen))
                case ExistsProof():
                    results.append(prove_path(ctx, proof))
                case ExpectProof():
                    results.append(prove_condition(ctx, proof))
                case ReportProof():
                    results.append(await report(ctx, proof))
        return tuple(results)

    async def stop(self, run: str, seq: int) -> None:
        """End all running commands of a step's proofs, with all descendants."""
        for place in sorted((self.folder / run / str(seq)).glob(f"{SLOT}*")):
            await self.starts.processes.end(str(place), GRACE)

    def _effect(self, ctx: ProofContext, until: float | None) -> CommandContext:
        return CommandContext(
            run=ctx.run,
            seq=ctx.seq,
            workspace=ctx.workspace,
            base=self.folder / ctx.run / str(ctx.seq),
            env=ctx.env,
            timeout=ctx.timeout,
            until=until,
            on_lost=ctx.on_lost,
        )

    async def _prove_command(
        self, ctx: ProofContext, effect: CommandContext, proof: CommandProof, number: int
    ) -> ProofResult:
        command = proof.command
        wanted = {"pass": "passes", "fail": "fails"}[proof.expect] if proof.exit is None else f"exits {proof.exit}"
        try:
            values = {each.variable: evaluate_text(ctx, each.value) for each in command.bindings}
        except ProofError as error:
            return build_result(ctx, proof, f"{display_command(command, {})} {wanted}", str(error))
        what = f"{display_command(command, values)} {wanted}"
        files = frozenset(each.variable for each in command.bindings if each.as_file)
        written = {each.variable: each.value.source for each in command.bindings}
        order = ResolvedCommand(f"{SLOT}{number}", what, command.script, values, files, written)
        order = replace(order, shown=display_command(command, values), may_lack=proof.exit in CANNOT_START)
        ended = await self.starts.run(effect, order)
        if isinstance(ended, LostCommand):
            return build_result(ctx, proof, what, f"it {ended.why}")
        reason = _explain_failure(proof, ended)
        return ProofResult(
            "command",
            what,
            not reason,
            describe_result(reason, ended.code, ended.stdout, ended.stderr),
            ctx.tree,
            ended.code,
        )


def display_command(command: Command, values: dict[str, str]) -> str:
    """Render a command with its values in place, for people only."""
    places = {
        each.variable: "FILE"
        if each.as_file
        else collapse_lines(values.get(each.variable, f"${{{each.value.source}}}"))
        for each in command.bindings
    }
    if not places:
        return collapse_lines(command.script)
    names = "|".join(sorted(map(re.escape, places), key=len, reverse=True))
    return collapse_lines(
        re.sub(rf"\$(?:\{{({names})\}}|({names})\b)", lambda at: places[at[1] or at[2]], command.script)
    )


def _explain_failure(proof: CommandProof, ended: Result) -> str:
    """Return why a command that ended is not a proof; empty when it is one."""
    code = ended.code
    if code is None or ended.error:
        return ended.error or "it did not exit"
    if proof.expect == "pass":
        return "" if code == 0 else f"it exited with {code}"
    if proof.exit is not None:
        return "" if code == proof.exit else f"it exited with {code}, but only {proof.exit} proves it"
    if code == 0:
        return "it passed, but it must fail"
    return f"it was killed (exit {code}), which proves nothing" if code in KILLED else ""
