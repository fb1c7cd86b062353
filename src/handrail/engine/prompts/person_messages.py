"""Stores what a person says to the agents of a run while it runs, until an agent that does work has received it.

1. Every message is included in the next call of an agent, and again until such a call has succeeded.
2. A message during a call reaches an agent that listens while it works: its outcome says so. Any other agent receives
   it in a further call of the same conversation.
3. Messages that no agent received are named when the run ends.
4. Reviewers and arbiters do not receive them: they judge the work, while messages are for those who do it.
"""

from collections.abc import Collection

from handrail.engine.text.untrusted_text import first_line
from handrail.model.history.events import MessageGiven
from handrail.model.history.run_state import Pending, RunState, update_state

JUDGES = ("/reviewer", "/arbiter")
CALLS = frozenset({"agent", "guided", "delegate"})
"""Steps for which an agent is called; the end of any other step delivers no message."""
_MAX_SHOWN = 200


def fold_message_given(state: RunState, event: MessageGiven) -> RunState:
    """Store a message."""
    return update_state(state, messages=(*state.messages, (state.seq + 1, event.by, event.text)))


def messages_for_agent(state: RunState, address: str) -> tuple[str, ...]:
    """List the messages for the agent of a step, the oldest first."""
    return tuple(text for _, _, text in state.messages) if hears(state, address) else ()


def remove_heard(state: RunState, pending: Pending, meanwhile: Collection[int] = ()) -> RunState:
    """Drop the messages that an agent received with its call or took up during it."""
    if not state.messages or pending.action not in CALLS or not hears(state, pending.address):
        return state
    left = tuple(each for each in state.messages if each[0] > pending.seq and each[0] not in meanwhile)
    return update_state(state, messages=left)


def wants_follow_up(state: RunState, pending: Pending, session: str) -> bool:
    """Whether a message came during a call of a plain step, was not received, and its agent can continue with it."""
    alone = state.stack[-1].work is None and not state.held_by and pending.action == "agent"
    return alone and bool(session) and any(seq > pending.seq for seq, _, _ in state.messages)


def only_follows_up(state: RunState, address: str) -> bool:
    """Whether a step has its answer, and its agent would be called again only for a message."""
    known = state.steps.get(address)
    answered = known is not None and known.status == "waiting" and known.ended_at is not None
    return answered and bool(state.messages) and address not in state.answers


def describe_unheard(state: RunState) -> str:
    """Describe at the end of a run the messages that no agent received; empty if there are none."""
    texts = _join_messages(state)
    return f"not delivered, since no further agent was called: {texts}" if texts else ""


def explain_standing_answer(state: RunState, reason: str) -> str:
    """Explain why an answer stands although a person said something since."""
    return f"{reason}; not delivered to its agent: {_join_messages(state)}"


def _join_messages(state: RunState) -> str:
    return "; ".join(first_line(text, _MAX_SHOWN) for _, _, text in state.messages)


def merge_messages(before: RunState, now: RunState) -> tuple[tuple[int, str, str], ...]:
    """Return the messages to deliver after a rewind: those not received by then, and those not received since."""
    return tuple(sorted({*before.messages, *now.messages}))


def messages_of_copy(state: RunState) -> tuple[tuple[int, str, str], ...]:
    """Return the messages of a copy, which precede all of its events."""
    return tuple((0, by, text) for _, by, text in state.messages)


def hears(state: RunState, address: str) -> bool:
    """Whether the agent of a step receives messages of people."""
    return state.stack[-1].work is None or not address.endswith(JUDGES)
