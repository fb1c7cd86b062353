"""Creates agents from definitions: described by data, or built-in ones with another program."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from handrail.agents.profiles import PROFILES, find_profile, make_agent
from handrail.agents.programs import find_described_program, find_program
from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.settings import Access
from handrail.ports.agent_definitions import AgentDefinition, BrokenDefinition, LoadedDefinition
from handrail.ports.agent_profiles import AgentProfile, ProjectFiles
from handrail.ports.agents import (
    Abilities,
    Agent,
    AgentCall,
    Configurable,
    HasTranscript,
    Launch,
    Lines,
    TranscriptReader,
    require_program,
    variables_of,
)


def makers_of(definitions: Iterable[LoadedDefinition]) -> dict[str, Callable[[], Agent]]:
    """Return what creates each of the defined agents, by name; a later one replaces an earlier one."""
    return {each.name: DefinedAgent(each) for each in definitions}


@frozen
class DefinedAgent:
    """Creates the agent of a definition; its adapter is loaded when a step asks for it."""

    given: LoadedDefinition

    def __call__(self) -> Agent:
        """Create the agent; raises what is wrong with its definition."""
        given = self._usable()
        if given.program:
            agent = make_agent(_profile_of(given), given.program)
            return AgentWithEnvironment(agent, given.env) if given.env else agent
        if given.protocol == "acp":
            from handrail.agents.acp.adapter import AcpAgent  # noqa: PLC0415

            return AcpAgent(given)
        from handrail.agents.described.adapter import CommandAgent  # noqa: PLC0415

        return CommandAgent(given)

    def require_program(self) -> None:
        """Raise an error that says what to install where its program is missing."""
        given = self._usable()
        if given.program:
            find_program(_profile_of(given), given.program)
        else:
            find_described_program(given)

    def _usable(self) -> AgentDefinition:
        if isinstance(self.given, BrokenDefinition):
            raise UsageError(self.given.message, next_step=self.given.hint)
        return self.given


def _profile_of(given: AgentDefinition) -> AgentProfile:
    profile = find_profile(given.name)
    if profile is None:
        message = f"`program` is for an agent that Handrail knows; it does not know '{given.name}'"
        hint = f"it knows {', '.join(sorted(PROFILES))}; for any other agent, write `command`"
        raise UsageError(message + did_you_mean(given.name, PROFILES), next_step=hint)
    return profile


@frozen
class AgentWithEnvironment:
    """An agent that gets additional environment variables."""

    agent: Agent
    env: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Its name in workflows."""
        return self.agent.name

    @property
    def can(self) -> Abilities:
        """Its abilities."""
        return self.agent.can

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of its vendor."""
        return self.agent.variables

    def variables_in(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Return those that it gets from an environment."""
        return variables_of(self.agent, environ)

    def project_files(self, access: Access) -> ProjectFiles:
        """Return the files of a repository that configure it."""
        return self.agent.project_files(access) if isinstance(self.agent, Configurable) else ProjectFiles()

    def require_program(self) -> None:
        """Raise an error that says what to install where the program is missing."""
        require_program(self.agent)

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Build its command as usual; variables that its adapter sets take precedence: they enforce the access."""
        launch = self.agent.launch(call, folder)
        return replace(launch, env=(*self.env, *launch.env))

    def lines(self) -> Lines:
        """Return a reader for one call."""
        return self.agent.lines()

    def transcript(self) -> TranscriptReader | None:
        """Give a reader of the kinds of its lines, where it has one."""
        return self.agent.transcript() if isinstance(self.agent, HasTranscript) else None

    def describe_line(self, line: bytes) -> str | None:
        """Describe what a line shows it doing."""
        return self.agent.describe_line(line)
