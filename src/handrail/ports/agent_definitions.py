"""An agent that is described by data: how its program is called, and what its answer means."""

from typing import Literal, TypeAlias, get_args

from handrail.frozen import frozen
from handrail.model.history.spending import CallStatus
from handrail.model.workflow.settings import Access

Protocol: TypeAlias = Literal["command", "acp"]
Output: TypeAlias = Literal["text", "json", "jsonl"]
Words: TypeAlias = tuple[str, ...]
JsonPath: TypeAlias = tuple[str | int, ...]
"""The keys and places that lead to a value: `$.result.parts[0].text`."""
Where: TypeAlias = tuple[tuple[JsonPath, str], ...]
"""The texts that a line holds in places."""

PLACES = ("prompt", "prompt_file", "workspace", "folder", "options")
"""What may stand in braces in a command; `options` is a word of its own, in whose place the options come."""
ANSWERS = ("text", "output", "session", "cost", "input_tokens", "output_tokens", "cached_tokens", "error")
"""What can be found in an answer of JSON."""
STATUSES: frozenset[CallStatus] = frozenset(get_args(CallStatus))


@frozen
class Mapped:
    """Where a value of the answer stands."""

    name: str
    """One of `ANSWERS`."""
    path: JsonPath
    where: Where = ()
    """In JSON lines: only in lines of this kind."""
    add: bool = False
    """In JSON lines: what several of them say is added up, and texts are joined; else the last one counts."""


@frozen(kw_only=True)
class AgentDefinition:
    """One `[agents.NAME]`."""

    name: str
    program: str = ""
    """Where the program of a built-in agent is; such a definition has nothing else."""
    protocol: Protocol = "command"
    command: Words = ()
    env: tuple[tuple[str, str], ...] = ()
    variables: Words = ()
    """Names or globs of the variables of its vendor, which it gets of the user's environment."""
    output: Output = "text"
    mapped: tuple[Mapped, ...] = ()
    final: Where | None = None
    """In JSON lines: the line without which the answer is not whole; None where the exit code tells that."""
    resume: Words = ()
    """The words with which a conversation goes on, `{session}` in them; without them none does."""
    model: Words = ()
    """The words that choose a model, `{model}` in them."""
    system_prompt: Words = ()
    """The words that give a system prompt, `{system_prompt}` in them; without them it stands before the prompt."""
    access: tuple[tuple[Access, Words], ...] = (("full", ()),)
    """The levels of access that the program keeps to by itself, with the words that ask for each."""
    exit_codes: tuple[tuple[int, CallStatus], ...] = ()
    mcp: bool = False
    """Whether the program starts the server of Handrail's tools by itself, as its environment says."""
    install: str = ""
    """How a person gets the program."""
    project_files: Words = ()
    """Files of a repository that configure the program, as paths or `FOLDER/**`; they have to be trusted."""
    without_project_files: Words = ()
    """The words with which it heeds none of these; without them it is not started until they are trusted."""

    @property
    def on_stdin(self) -> bool:
        """Whether the prompt is given on the standard input: no place of the command takes it."""
        return not any("{prompt}" in word or "{prompt_file}" in word for word in self.command)

    def words_for(self, access: Access, *, bare: bool) -> Words:
        """Give the words for a level of access and, of a bare call, those that leave out files of the repository."""
        return (*dict(self.access).get(access, ()), *(self.without_project_files if bare else ()))


@frozen
class BrokenDefinition:
    """An `[agents.NAME]` that cannot be used."""

    name: str
    message: str
    """What is wrong, with the file and the line."""
    hint: str


Defined: TypeAlias = AgentDefinition | BrokenDefinition
