"""The calls of agents in a run's history, each as the intent with which it was made."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from handrail.engine.guided.agent_call import call_again
from handrail.engine.state.agent_calls import call_of
from handrail.model.history.events import Event, StepBegan, StepRefused


def agent_calls(events: Iterable[tuple[int, Event]]) -> Iterator[tuple[int, StepBegan]]:
    """Yield every call with the number of its event; an agent whose work was refused is called again."""
    pending: dict[int, StepBegan] = {}
    for seq, event in events:
        if isinstance(event, StepBegan):
            pending[seq] = event
        elif isinstance(event, StepRefused) and event.began in pending:
            pending[seq] = call_again(pending[event.began], event)
        call = call_of(pending[seq]) if seq in pending else None
        if call is not None:
            yield seq, replace(pending[seq], action="agent", spec=call)
