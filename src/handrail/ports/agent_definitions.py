"""An agent that is described by data: how its program is called, and how its answer is read."""

from typing import Literal, TypeAlias, get_args

from handrail.frozen import frozen
from handrail.model.history.spending import CallStatus
from handrail.model.workflow.settings import Access

Protocol: TypeAlias = Literal["command", "acp"]
Output: TypeAlias = Literal["text", "json", "jsonl"]
Words: TypeAlias = tuple[str, ...]
JsonPath: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a value: `$.result.parts[0].text`."""
Where: TypeAlias = tuple[tuple[JsonPath, str], ...]
"""The texts that a line must have at some paths."""

PLACES = ("prompt", "prompt_file", "workspace", "folder", "options")
"""The placeholders in braces in a command; `options` is an argument of its own, which the options replace."""
ANSWERS = ("text", "output", "session", "cost", "input_tokens", "output_tokens", "cached_tokens", "error")
"""The values that can be found in a JSON answer."""
STATUSES: frozenset[CallStatus] = frozenset(get_args(CallStatus))


@frozen
class ValueMapping:
    """Where a value of the answer is found."""

    name: str
    """One of `ANSWERS`."""
    path: JsonPath
    where: Where = ()
    """In JSON lines: only in lines that match this."""
    add: bool = False
    """In JSON lines: numbers of several lines are added up and texts joined; otherwise the last one counts."""


@frozen(kw_only=True)
class AgentDefinition:
    """One `[agents.NAME]` table."""

    name: str
    program: str = ""
    """The path of a built-in agent's program; such a definition has nothing else."""
    protocol: Protocol = "command"
    command: Words = ()
    env: tuple[tuple[str, str], ...] = ()
    variables: Words = ()
    """Names or globs of its vendor's environment variables, which it gets from the user's environment."""
    output: Output = "text"
    mapped: tuple[ValueMapping, ...] = ()
    final: Where | None = None
    """In JSON lines: the line without which the answer is incomplete; None if the exit code decides that."""
    resume: Words = ()
    """The arguments that resume a conversation, containing `{session}`; without them none can be resumed."""
    model: Words = ()
    """The arguments that select a model, containing `{model}`."""
    system_prompt: Words = ()
    """The arguments that set a system prompt, containing `{system_prompt}`; without them it precedes the prompt."""
    access: tuple[tuple[Access, Words], ...] = (("full", ()),)
    """The levels of access that the program itself enforces, with the arguments that request each."""
    exit_codes: tuple[tuple[int, CallStatus], ...] = ()
    mcp: bool = False
    """Whether the program itself starts the server of Handrail's tools, as its environment says."""
    install: str = ""
    """How a person installs the program."""
    project_files: Words = ()
    """Files of a repository that configure the program, as paths or `FOLDER/**`; they have to be trusted."""
    without_project_files: Words = ()
    """The arguments that make it ignore these files; without them it is not started until they are trusted."""

    @property
    def on_stdin(self) -> bool:
        """Whether the prompt is passed on standard input, because the command has no placeholder for it."""
        return not any("{prompt}" in word or "{prompt_file}" in word for word in self.command)

    def words_for(self, access: Access, *, bare: bool) -> Words:
        """Return the arguments for a level of access and, if `bare`, those that ignore the repository's files."""
        return (*dict(self.access).get(access, ()), *(self.without_project_files if bare else ()))


@frozen
class BrokenDefinition:
    """An `[agents.NAME]` table that cannot be used."""

    name: str
    message: str
    """What is wrong, with the file and the line."""
    hint: str


LoadedDefinition: TypeAlias = AgentDefinition | BrokenDefinition
