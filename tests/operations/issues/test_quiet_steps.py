"""The agent of a step with `no_comment` does not write to the tracker with Handrail's own commands."""

import pytest

from handrail.errors import PersonOnly
from handrail.model.actors import make_agent, make_person
from handrail.model.history.events import StepBegan
from handrail.operations.issues.quiet_steps import refuse_quiet_step
from handrail.ports.log import Append, Holder
from handrail.runtime.event_records import encode_event
from support.issues.desk import PLAIN
from support.runtime.memory_room import MemoryRoom


def begin_agent_step(room: MemoryRoom, **spec: bool) -> str:
    """Start a run whose agent is at work."""
    run = room.start(PLAIN)
    began = StepBegan(address="only", action="agent", attempt=1, spec={"prompt": "Go.", **spec}, at=room.now)
    lease = room.log.acquire(run, "test")
    assert not isinstance(lease, Holder)
    room.log.append([Append(run, room.log.last(run).seq, (encode_event(began),))], [lease])
    room.log.release(lease)
    return run


def test_only_the_agent_of_a_quiet_step_is_refused() -> None:
    room = MemoryRoom()
    quiet, free = begin_agent_step(room, no_comment=True), begin_agent_step(room)
    with pytest.raises(PersonOnly, match=f"step 'only' of {quiet} writes nothing to the tracker"):
        refuse_quiet_step(room.log, make_agent(quiet, "only"))
    refuse_quiet_step(room.log, make_agent(free, "only"))
    refuse_quiet_step(room.log, make_agent("gone-1", "only"))
    refuse_quiet_step(room.log, make_person("ann"))
