"""What a person says to the agents of a run while it runs: kept until an agent that does work has heard it.

1. Every message is told with the next call of an agent, and again until such a call has ended well.
2. One that comes in the middle of a call is heard by an agent that listens while it works: its outcome says so. Any
   other agent is told in a further call of the same conversation.
3. What nobody came for is named when the run ends.
4. Reviewers and arbiters are not told: they judge the work, and what is to be done is for those who do it.
"""

from collections.abc import Collection

from handrail.engine.text.untrusted_text import one_line
from handrail.model.history.events import MessageGiven
from handrail.model.history.run_state import Pending, RunState, changed

JUDGES = ("/reviewer", "/arbiter")
CALLS = frozenset({"agent", "guided", "delegate"})
"""Steps that an agent is called for; the end of any other has told nobody anything."""
_MOST_SHOWN = 200


def given(state: RunState, event: MessageGiven) -> RunState:
    """Keep a message."""
    return changed(state, messages=(*state.messages, (state.seq + 1, event.by, event.text)))


def for_agent(state: RunState, address: str) -> tuple[str, ...]:
    """Give the messages that the agent of a step is to hear, the oldest first."""
    return tuple(text for _, _, text in state.messages) if hears(state, address) else ()


def heard(state: RunState, pending: Pending, meanwhile: Collection[int] = ()) -> RunState:
    """An agent has heard what was said before its call, and what it took up meanwhile."""
    if not state.messages or pending.action not in CALLS or not hears(state, pending.address):
        return state
    left = tuple(each for each in state.messages if each[0] > pending.seq and each[0] not in meanwhile)
    return changed(state, messages=left)


def wants_follow_up(state: RunState, pending: Pending, session: str) -> bool:
    """Tell whether something was said during a call of a plain step and not heard, whose agent can go on with it."""
    alone = state.stack[-1].work is None and not state.held_by and pending.action == "agent"
    return alone and bool(session) and any(seq > pending.seq for seq, _, _ in state.messages)


def only_follows_up(state: RunState, address: str) -> bool:
    """Tell whether a step has its answer, and its agent would be called again only to be told something."""
    known = state.steps.get(address)
    answered = known is not None and known.status == "waiting" and known.ended_at is not None
    return answered and bool(state.messages) and address not in state.answers


def unheard(state: RunState) -> str:
    """Say at the end of a run what no agent came for any more; nothing where all was heard."""
    texts = _listed(state)
    return f"no agent came any more that could be told: {texts}" if texts else ""


def not_taken_up(state: RunState, reason: str) -> str:
    """Say why an answer stands although a person said something since."""
    return f"{reason}; its agent was not told any more: {_listed(state)}"


def _listed(state: RunState) -> str:
    return "; ".join(one_line(text, _MOST_SHOWN) for _, _, text in state.messages)


def both(before: RunState, now: RunState) -> tuple[tuple[int, str, str], ...]:
    """Give what is to be told after a rewind: what had not been heard then, and what has not been heard since."""
    return tuple(sorted({*before.messages, *now.messages}))


def of_copy(state: RunState) -> tuple[tuple[int, str, str], ...]:
    """Give the messages of a copy, whose events are counted anew: they came before all of them."""
    return tuple((0, by, text) for _, by, text in state.messages)


def hears(state: RunState, address: str) -> bool:
    """Tell whether the agent of a step is told what people say."""
    return state.stack[-1].work is None or not address.endswith(JUDGES)
