"""Which agents a run is given: what the command line says, and the repository's configuration."""

from handrail.errors import UsageError
from handrail.model.workflow.agent_names import AgentNames
from handrail.model.workflow.settings import NO_POLICY, AgentPolicy
from handrail.operations.workflows.repository_config import CONFIG, Configured

NO_SANDBOX = ("none", True)


def override_of(agent: str, model: str, names: AgentNames) -> str:
    """Give what `--agent` and `--model` say together: `AGENT/MODEL`, or `/MODEL` for a model alone."""
    said = names.read(agent)
    if model and said.model and said.model != model:
        message = f"--agent {agent} names the model '{said.model}', --model names '{model}'"
        raise UsageError(message, next_step="say it once: --agent NAME/MODEL")
    return names.read(agent, model or None).text


def policy_of(configured: Configured | None, here: tuple[str, ...]) -> AgentPolicy:
    """Give the agent of steps that name none, and the fallbacks; what is not trusted does not count.

    `here` are the agents that are installed.
    """
    usual, why = (here[0], "the only agent that is installed") if len(here) == 1 else ("", "")
    if configured is not None and configured.config.sandbox != NO_SANDBOX:
        # To pass over a sandbox would be no harmless way of not trusting.
        configured.require("the sandbox of [agent]", "needs")
    if configured is None or configured.distrust:
        return AgentPolicy(usual, why) if usual else NO_POLICY
    config = configured.config
    if config.agent:
        usual, why = config.agent, f"the default of {CONFIG}"
    sandbox, network = config.sandbox
    return AgentPolicy(
        usual,
        why,
        config.fallback,
        config.limits,
        sandbox=sandbox,
        network=network,
        idle_timeout=config.idle_timeout,
    )
