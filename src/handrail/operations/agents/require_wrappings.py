"""Whether the agents of a run can be started as its steps ask: in tmux, in a sandbox. Looked at before it starts."""

from handrail.errors import EnvironmentFault, UsageError
from handrail.model.parts import every_step, parts
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.settings import AgentPolicy, AgentTask, confinement
from handrail.operations.views.tmux import require_tmux
from handrail.ports.machine import Machine
from handrail.runtime.handlers.agents.step_tools import CONFINED


def require_wrappings(machine: Machine, plans: tuple[Plan, ...], policy: AgentPolicy, *, tmux: bool) -> None:
    """Refuse a run whose agents cannot be started as it asks."""
    tasks = [(address, task) for plan in plans for address, task in _tasks(plan)]
    if tmux or any(task.tmux for _, task in tasks):
        require_tmux(machine.windows)
    confined = [address for address, task in tasks if task.handrail_tools and confinement(task, policy)[0] == "bwrap"]
    if confined:
        hint = "leave out `sandbox: bwrap` or `handrail_tools` there"
        raise UsageError(f"step '{confined[0]}': {CONFINED}", next_step=hint)
    asked = {confinement(task, policy): address for address, task in reversed(tasks)}
    for (sandbox, network), address in asked.items():
        why = machine.sandbox.unusable(network=network) if sandbox == "bwrap" else ""
        if why:
            raise EnvironmentFault(
                f"step '{address}' asks for `sandbox: bwrap`: {why}", next_step=machine.sandbox.remedy()
            )


def _tasks(plan: Plan) -> list[tuple[str, AgentTask]]:
    return [(address, task) for address, step in every_step(plan.steps) for task in parts(step.action, AgentTask)]
