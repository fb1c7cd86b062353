"""Ignored files that a step must leave alone: recorded before its intent, which names the record.

1. No snapshot holds these files, so nothing else shows what they were when the step began. The intent is written
after the record: a step that has begun always has a record, and later changes are never taken for it.
2. A further try answers for the changes of the tries before it, and so does a step after a rewind of an owned worktree:
ignored files are never restored. Both continue with the record of the first try. A copy of a run has a new one.
3. If the files cannot be recorded, the run is blocked before the step begins.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from handrail.engine.fold.steps import is_further_try
from handrail.engine.state.scope import value_of
from handrail.errors import EnvironmentFault, HandrailError
from handrail.language.problems import EvaluationError, LanguageError
from handrail.model.history.events import Event, RunBlocked, RunRewound, StepBegan, StepEnded, StepSkipped
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import Step
from handrail.model.workflow.proofs import FilesProof
from handrail.model.workflow.values import JsonValue
from handrail.runtime.event_records import decode_event
from handrail.runtime.handlers.proofs.file_evidence import RECORDED, ProofError, globs_of
from handrail.runtime.handlers.trees import TreeHandler
from handrail.runtime.recorder import PendingCommit, Recorder

MAX_BACK = 64
"""The most events between a rewind and the step that begins again."""


async def attach_file_record(trees: TreeHandler, recorder: Recorder, step: Step, turn: PendingCommit) -> PendingCommit:
    """Return a turn whose intent names a record of the files, or one that blocks the run where there can be none."""
    began = cast("StepBegan", turn.events[-1])
    try:
        globs = _globs(step, turn.state, began)
        known = _find_earlier_record(recorder, turn, began)
        same = known if known.get("globs") == list(globs) else {}
        name = await trees.record_files(turn.state, globs, str(same.get("record", "")))
    except HandrailError as error:
        hint = error.next_step or "then resume the run"
        blocked = RunBlocked(reason="fault", message=error.message, address=began.address, next_step=hint, at=began.at)
        return recorder.replace_intent(turn, blocked)
    spec: dict[str, JsonValue] = {**began.spec, RECORDED: {"record": name, "globs": list(globs)}}
    return recorder.replace_intent(turn, replace(began, spec=spec))


def _globs(step: Step, state: RunState, began: StepBegan) -> tuple[str, ...]:
    """Return the globs of all proofs for which ignored files count."""
    given = began.spec.get("input")
    names: dict[str, JsonValue] = {**given} if isinstance(given, dict) else {}
    found: set[str] = set()
    for proof in step.done_when:
        if isinstance(proof, FilesProof) and proof.ignored:
            try:
                found.update(globs_of(value_of(proof.globs, state, names)))
            except (ProofError, LanguageError, EvaluationError) as error:
                why = str(error) if isinstance(error, ProofError) else error.problem.message
                message = f"the files that '{began.address}' must not change cannot be determined: {why}"
                raise EnvironmentFault(message, next_step="fix the globs of `unchanged`, then start over") from error
    return tuple(sorted(found))


def _find_earlier_record(recorder: Recorder, turn: PendingCommit, began: StepBegan) -> dict[str, JsonValue]:
    """Return the record of an earlier try of the same step, whose work this one continues."""
    state = recorder.fold(turn.before, turn.events[:-1])
    known = state.steps.get(began.address)
    if known is not None and known.before and is_further_try(state, known):
        earlier = recorder.intent(state.run, known.began)
    else:
        earlier = _find_rewind_target(recorder, turn) if state.tree is not None and state.tree.owned else None
    is_same = isinstance(earlier, StepBegan) and earlier.address == began.address
    return _record_of(earlier) if is_same and isinstance(earlier, StepBegan) else {}


def _record_of(began: StepBegan) -> dict[str, JsonValue]:
    found = began.spec.get(RECORDED)
    return found if isinstance(found, dict) else {}


def _find_rewind_target(recorder: Recorder, turn: PendingCommit) -> Event | None:
    """Return the intent to which the run was rewound, where nothing was done since."""
    for event in _newest_first(recorder, turn):
        if isinstance(event, RunRewound):
            return recorder.intent(turn.before.run, event.seq)
        if isinstance(event, StepBegan | StepEnded | StepSkipped):
            return None
    return None


def _newest_first(recorder: Recorder, turn: PendingCommit) -> Iterator[Event]:
    yield from reversed(turn.events[:-1])
    start = max(0, turn.before.seq - MAX_BACK)
    for stored in reversed(recorder.log.read(turn.before.run, after=start, limit=MAX_BACK)):
        yield decode_event(stored)
