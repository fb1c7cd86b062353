"""Notifies a person once that a run needs them: from the process that drives it, and across restarts.

1. A need is an event by which a person is asked, or the run blocked; its number in the run's history identifies it.
2. The message that claims a need has a key that the log accepts once. Only the process that placed it notifies.
3. The message becomes a fact of the run (`person_notified`); a failure to notify becomes another.
4. Notifying happens beside the run: only the end of this process waits for it, and its failure never fails a run.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeAlias

from handrail.errors import HandrailError
from handrail.frozen import frozen
from handrail.model.history.events import ApprovalRequested, QuestionAsked, RunBlocked
from handrail.model.history.run_state import RunState
from handrail.ports.log import Log
from handrail.ports.notices import Notice, NoticeTarget, SendNotice
from handrail.runtime.event_records import decode_event
from handrail.runtime.run_writer import RunWriter
from handrail.sources.config.notify import NotifySetting

Need: TypeAlias = ApprovalRequested | QuestionAsked | RunBlocked
LOOK_BACK = 200
"""The number of latest events that are searched for the need."""


@frozen
class Notifier:
    """Whom to notify, and how."""

    log: Log
    writer: RunWriter
    setting: NotifySetting
    send: SendNotice
    watched: bool = False
    """Whether a person watches the run in a terminal; then only channels are notified."""

    def announce(self, state: RunState) -> "Coroutine[Any, Any, None] | None":
        """Return the coroutine that notifies a person about the state of a run; None if nobody is to be notified."""
        try:
            found = find_need(self.log, state)
            return None if found is None else self._claim_notice(state, *found)
        except HandrailError:
            return None

    def _claim_notice(self, state: RunState, seq: int, need: Need) -> "Coroutine[Any, Any, None] | None":
        to = need.escalate_to if isinstance(need, RunBlocked) else ""
        target = self.setting.channel(to) if to else self.setting.own
        if not to and (self.watched or self.setting.own.is_empty):
            return None
        if not self.writer.send(state.run, f"notify:{seq}", "notified", need=seq, to=to, problem=""):
            return None
        return self._tell(target, to, seq, notice_of(state, need))

    async def _tell(self, target: NoticeTarget | None, to: str, seq: int, notice: Notice) -> None:
        if target is None or target.is_empty:
            problems: tuple[str, ...] = (f"your configuration does not say how to reach '{to}'",)
        else:
            problems = await asyncio.to_thread(self.send, target, self._redact_notice(notice))
        if problems:
            key, problem = f"notify:{seq}:problem", "; ".join(problems)
            self.writer.send(notice.run, key, "notified", need=seq, to=to, problem=problem)

    def _redact_notice(self, notice: Notice) -> Notice:
        mask = self.writer.redactor.text
        return Notice(
            run=notice.run,
            workflow=notice.workflow,
            need=notice.need,
            step=notice.step,
            message=mask(notice.message),
            next_step=mask(notice.next_step),
        )


def find_need(log: Log, state: RunState) -> tuple[int, Need] | None:
    """Find the event by which a run needs a person now, with its number; None if it does not need one."""
    asks = state.status == "waiting" and state.pending is not None and state.pending.kind in ("approval", "question")
    if state.status != "blocked" and not asks:
        return None
    for stored in reversed(log.read(state.run, after=max(0, state.seq - LOOK_BACK))):
        event = decode_event(stored)
        if isinstance(event, ApprovalRequested | QuestionAsked | RunBlocked):
            return stored.seq, event
    return None


def notice_of(state: RunState, need: Need) -> Notice:
    """Describe what a run needs, and what to do about it."""
    match need:
        case ApprovalRequested():
            kind, message, next_step = "approval", need.message or "approve?", f"handrail approve {state.run}"
        case QuestionAsked():
            kind, message, next_step = "question", need.question, f'handrail answer {state.run} "..."'
        case RunBlocked():
            kind = "budget" if need.reason == "budget" else "blocked"
            message, next_step = need.message, need.next_step or f"handrail status {state.run}"
    return Notice(
        run=state.run, workflow=state.workflow, need=kind, step=need.address, message=message, next_step=next_step
    )
