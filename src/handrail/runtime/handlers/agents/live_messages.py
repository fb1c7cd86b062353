"""Delivers a person's messages to an agent in the middle of its call, where the agent listens.

1. A message is a file of the call, named by the event that recorded it: however often and by whichever driver it is
written, the agent's keeper sends it once.
2. What the agent received is visible in its own output, and is recorded with the outcome of the call. Anything else
is part of the next prompt, as for an agent that does not listen.
3. A call that is made again receives all messages again: the work of the lost call is undone.
"""

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from handrail.engine.prompts.compose import PromptContent, compose_prompt
from handrail.engine.prompts.person_messages import hears
from handrail.frozen import frozen
from handrail.model.history.events import MessageGiven, QuestionAsked, StepBegan, StepEnded
from handrail.model.history.run_state import Pending, RunState
from handrail.ports.agents import AcceptsMessages, Agent, AgentOutcome, Launch
from handrail.ports.log import Streams
from handrail.ports.processes import StdinChannel
from handrail.runtime.event_records import decode_event
from handrail.runtime.handlers.agents.hindrances import Answered

PROMPT = f"{0:012}"
"""The file of the first message, the prompt; later ones have the numbers of their events."""
ListMessages: TypeAlias = Callable[[str, int], tuple[tuple[int, str], ...]]
"""Returns what was said to a run after an event: the numbers of the events with the texts."""


def messages_since(log: Streams, run: str, seq: int) -> tuple[tuple[int, str], ...]:
    """List what people said to a run after an event."""
    events = ((stored.seq, decode_event(stored)) for stored in log.read(run, seq) if stored.kind == "message_given")
    return tuple((number, event.text) for number, event in events if isinstance(event, MessageGiven))


def can_listen(state: RunState, pending: Pending, began: StepBegan, agent: Agent) -> bool:
    """Whether an agent can receive messages in the middle of a call: a plain one, with more than a single turn."""
    able = agent.can.follow_up and isinstance(agent, AcceptsMessages)
    return able and pending.action == "agent" and not began.spec.get("single_turn") and hears(state, pending.address)


def open_message_folder(launch: Launch, inputs: Path) -> StdinChannel | None:
    """Create the folder of messages for a call that listens, the prompt first; None for a call that does not."""
    if not launch.until:
        return None
    folder = inputs / "said"
    folder.mkdir(exist_ok=True)
    (folder / PROMPT).write_bytes(launch.stdin)
    return StdinChannel(str(folder), launch.until)


@frozen
class LiveMessages:
    """The messages to one call."""

    said: ListMessages | None
    agent: Agent
    place: Path
    pending: Pending
    began: StepBegan
    run: str

    def speak(self) -> None:
        """Write the messages that arrived since the call began, if it listens."""
        folder = self.place.with_name(f"{self.place.name}.input") / "said"
        if self.said is None or not isinstance(self.agent, AcceptsMessages) or not folder.is_dir():
            return
        for seq, text in self.said(self.run, self.pending.seq):
            if not (folder / f"{seq:012}").exists():
                draft = folder / f".{seq:012}"
                draft.write_bytes(self.agent.encode_message(self._words(text), self._mark(seq)))
                draft.replace(folder / f"{seq:012}")

    def attach_heard_messages(self, outcome: AgentOutcome, answered: Answered) -> Answered:
        """Add to the outcome of the call which messages the agent received."""
        said = () if self.said is None or not outcome.heard else self.said(self.run, self.pending.seq)
        heard = tuple(seq for seq, _ in said if self._mark(seq) in outcome.heard)
        match answered:
            case StepEnded() if heard:
                return replace(answered, details={**answered.details, "heard": list(heard)})
            case QuestionAsked() if heard:
                return replace(answered, heard=heard)
            case _:
                return answered

    def _words(self, text: str) -> str:
        return compose_prompt(
            PromptContent(prompt="", messages=(text,), schema=self.began.spec.get("schema"), goes_on=True)
        )

    def _mark(self, seq: int) -> str:
        """Return the id of a message in this very call: a conversation may hold what a lost call received."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.place}:{seq}"))
