"""The context in which a composite step decides what to do next."""

from collections.abc import Mapping
from dataclasses import replace

from handrail.engine.prompts.agent_call import AgentRequest, add_guidance, build_call_intent, decide_before_call
from handrail.engine.state import budgets
from handrail.frozen import frozen
from handrail.model.history.events import BlockReason, Event, WorkLeft
from handrail.model.history.run_state import RunState, WorkState
from handrail.model.workflow.agent_names import AgentNames
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import JsonValue


@frozen
class CompositeContext:
    """A composite step together with the plan, the state and the time at which it decides."""

    plan: Plan
    state: RunState
    step: Step
    work: WorkState
    own: Mapping[str, JsonValue]
    """The evaluated `input` of the step."""
    now: float
    agent_names: AgentNames

    @property
    def data(self) -> dict[str, JsonValue]:
        """The progress of the step so far, as plain data."""
        return self.work.data

    def call(self, ask: AgentRequest) -> Event | budgets.ReachedLimit:
        """Call an agent, or block on a spent budget; return the limit where the step should go on without the call."""
        limit = budgets.find_reached_limit(self.plan, self.state, self.step, self.work.address)
        own = ask.task.budget, ask.counted or (ask.address,)
        if limit is None:
            limit = budgets.find_reached_task_limit(self.state, *own)
        if limit is None:
            room = budgets.room_for_call(self.plan, self.state, self.step, self.work.address)
            for name, rest in budgets.room_of_task(self.state, *own).items():
                room[name] = min(rest, room.get(name, rest))
            ask = add_guidance(replace(ask, room=room), self.plan, self.state)
            first = decide_before_call(self.plan, self.state, ask, self.now, self.agent_names)
            return first or build_call_intent(self.state, ask, self.now, self.agent_names)
        return limit if limit.at_limit == "finish" else budgets.block_at_limit(limit, ask.address, self.now)

    def succeed(self, output: JsonValue) -> WorkLeft:
        """Leave the step as succeeded."""
        return WorkLeft(address=self.work.address, status="succeeded", output=output, at=self.now)

    def fail(self, error: str, output: JsonValue = None, *, blocks_budget: bool = False) -> WorkLeft:
        """Leave the step as failed."""
        blocks: BlockReason | None = "budget" if blocks_budget else _BLOCKS.get(self.work.action)
        return WorkLeft(
            address=self.work.address, status="failed", error=error, output=output, blocks=blocks, at=self.now
        )


_BLOCKS: dict[str, BlockReason] = {"gate": "checks", "merge": "merge", "agent-loop": "checks"}
