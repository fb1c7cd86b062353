"""Checks before a run starts whether its agents are installed and can do what its steps ask of them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from handrail.engine.prompts.choose_agent import AgentContext, Choice, choose_agent
from handrail.errors import EnvironmentFault, InvalidWorkflow, NotFound, UsageError
from handrail.late_import import late_import
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.actions import AgentAction
from handrail.model.workflow.agent_names import AgentChoice, AgentNames
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.settings import AgentPolicy, AgentTask, confinement
from handrail.ports.agents import (
    Agent,
    AgentCall,
    AgentCatalog,
    Agents,
    ToolServer,
    is_installed,
    require_program,
    unmet,
)
from handrail.ports.machine import Machine
from handrail.runtime.handlers.agents.step_tools import CONFINED

if TYPE_CHECKING:
    from handrail.operations.views import tmux as tmux_view
else:
    tmux_view = late_import("handrail.operations.views.tmux")


def require_agents(
    plans: tuple[Plan, ...], given: AgentContext, known: Agents, pulled: Plan | None = None
) -> tuple[str, ...]:
    """Name the agents of a run; refuse one that is not installed, or that cannot do what a step asks of it.

    In a pulled plan a connected agent performs the plain agent steps: nothing has to be installed for them.
    """
    given = replace(given, names=known.catalog.names)
    for each in given.policy.fallback:
        known.find(given.names.read(each).agent)
    problems: dict[str, None] = {}
    names: dict[str, None] = {}
    for plan in plans:
        for address, task in _tasks(plan, pulled=plan is pulled):
            agent, model = _performer(choose_agent(task, given), known, given.names)
            names[agent.name] = None
            missing = unmet(agent.name, agent.can, _make_agent_call(task, address, model))
            problems.update(dict.fromkeys(f"step '{address}': {what}" for what in missing))
    if problems:
        raise InvalidWorkflow("; ".join(problems), next_step="change the step, or name another agent for it")
    return tuple(names)


def _tasks(plan: Plan, *, pulled: bool = False) -> Iterator[tuple[str, AgentTask]]:
    for address, step in walk_steps(plan.steps):
        if pulled and isinstance(step.action, AgentAction):
            continue
        yield from ((address, task) for task in parts(step.action, AgentTask))


def _performer(choice: Choice, known: Agents, names: AgentNames) -> tuple[Agent, str | None]:
    """Return the chosen agent, or its first installed fallback; if there is none, say how to install the chosen one."""
    if choice.agent is None:
        raise _make_no_agent_error(known.list_installed(), known.catalog)
    chain = (AgentChoice(choice.agent, choice.model), *(names.read(text) for text in choice.instead))
    agents = [(known.find(each.agent), each.model) for each in chain]
    found = next((pair for pair in agents if is_installed(pair[0])), None)
    if found is None:
        require_program(agents[0][0])
    return found or agents[0]


def _make_no_agent_error(names: tuple[str, ...], catalog: AgentCatalog) -> UsageError | NotFound:
    if names:
        hint = f'name one with --agent, or write [agent] default = "{names[0]}" into .handrail/config.toml'
        return UsageError(f"no agent was chosen, and several are installed: {', '.join(names)}", next_step=hint)
    ways = " or ".join(profile.install for profile in catalog.profiles)
    return NotFound("no agent is installed", next_step=f"{ways}; or play a script with --script FILE")


def _make_agent_call(task: AgentTask, address: str, model: str | None) -> AgentCall:
    return AgentCall(
        run="",
        address=address,
        turn=1,
        prompt="",
        workspace="",
        model=model,
        access=task.access,
        session=None if task.session == "fresh" or task.carry == "summary" else task.session,
        single_turn=task.single_turn,
        allowed_tools=task.allowed_tools,
        disallowed_tools=task.disallowed_tools,
        no_comment=task.no_comment,
        server=ToolServer((), (), task.handrail_tools) if task.handrail_tools else None,
    )


def require_wrappings(machine: Machine, plans: tuple[Plan, ...], policy: AgentPolicy, *, tmux: bool) -> None:
    """Refuse a run whose agents cannot be started as it asks."""
    tasks = [(address, task) for plan in plans for address, task in _tasks(plan)]
    if tmux or any(task.tmux for _, task in tasks):
        tmux_view.require_tmux(machine.windows)
    confined = [address for address, task in tasks if task.handrail_tools and confinement(task, policy)[0] == "bwrap"]
    if confined:
        hint = "remove `sandbox: bwrap` or `handrail_tools` there"
        raise UsageError(f"step '{confined[0]}': {CONFINED}", next_step=hint)
    asked = {confinement(task, policy): address for address, task in reversed(tasks)}
    for (sandbox, network), address in asked.items():
        why = machine.sandbox.unusable(network=network) if sandbox == "bwrap" else ""
        if why:
            raise EnvironmentFault(
                f"step '{address}' asks for `sandbox: bwrap`: {why}", next_step=machine.sandbox.remedy()
            )
