"""Any program as an agent, described by data: its arguments, where the prompt goes, and what its answer means.

Nothing is known of such a program: its definition states which access levels the program itself enforces.
"""

import re
from pathlib import Path

from handrail.agents.described.lines import CommandLines, display_text
from handrail.agents.programs import find_described_program
from handrail.errors import UsageError
from handrail.model.workflow.settings import Access
from handrail.ports.agent_definitions import AgentDefinition, Words
from handrail.ports.agent_profiles import ProjectFiles
from handrail.ports.agents import Abilities, AgentCall, Launch

MAX_LENGTH = (128 << 10) - 1
"""The longest argument that Linux accepts, in bytes."""
_PLACE = re.compile(r"\{([a-z_]+)\}")


class CommandAgent:
    """The `Agent` that calls the program of a definition."""

    def __init__(self, definition: AgentDefinition) -> None:
        self._definition = definition

    @property
    def name(self) -> str:
        """Its name in workflows."""
        return self._definition.name

    @property
    def can(self) -> Abilities:
        """What the definition has arguments for; only `full` where it says nothing about access."""
        given = self._definition
        names = {each.name for each in given.mapped}
        return Abilities(
            access=frozenset(level for level, _ in given.access),
            resume=bool(given.resume) and "session" in names,
            system_prompt=bool(given.system_prompt),
            model=bool(given.model),
            cost="cost" in names,
            mcp=given.mcp,
            streams=given.output == "jsonl",
            without_project_files=bool(given.without_project_files),
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that the definition names."""
        return self._definition.variables

    def project_files(self, access: Access) -> ProjectFiles:  # noqa: ARG002 - the same for all levels
        """Return the files of a repository that configure it, as the definition names them."""
        return ProjectFiles(self._definition.project_files)

    def require_program(self) -> None:
        """Raise an error that says what to install where the program is missing."""
        find_described_program(self._definition)

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Fill the prompt and the options into the command, each within one argument; no shell reads it."""
        given = self._definition
        values = {"prompt": call.prompt.replace("\0", ""), "workspace": call.workspace, "folder": folder}
        if any("{prompt_file}" in word for word in given.command):
            values["prompt_file"] = _write_prompt(call.prompt, Path(folder))
        program = find_described_program(given, call.path)
        argv = (program, *_fill_places(_splice_options(given.command[1:], _options(given, call)), values))
        _require_short(given, argv)
        prompt = call.prompt.encode(errors="replace") if given.on_stdin else b""
        return Launch(argv, given.env, prompt)

    def lines(self) -> CommandLines:
        """Return a reader for one call."""
        return CommandLines(self._definition)

    def describe_line(self, line: bytes) -> str | None:
        """Return the first line of text in a line, where there is any."""
        return next((each.strip() for each in display_text(self._definition, line).splitlines() if each.strip()), None)


def _options(given: AgentDefinition, call: AgentCall) -> Words:
    """Build the arguments for what a call asks besides its prompt; values are filled in here, once, and not again."""
    asked = (
        (given.model, "model", call.model),
        (given.resume, "session", call.session),
        (given.system_prompt, "system_prompt", call.system_prompt),
    )
    filled = (_fill_places(words, {name: value}) for words, name, value in asked if value)
    return (
        *given.words_for(call.access, bare=call.project.files == "untrusted"),
        *(word for words in filled for word in words),
    )


def _splice_options(words: Words, options: Words) -> tuple[str | tuple[str], ...]:
    """Insert the options at their place in the command, else at its end; they are complete, hence wrapped."""
    whole = tuple((word,) for word in options)
    if "{options}" not in words:
        return (*words, *whole)
    at = words.index("{options}")
    return (*words[:at], *whole, *(word for word in words[at + 1 :] if word != "{options}"))


def _fill_places(words: tuple[str | tuple[str], ...], values: dict[str, str]) -> Words:
    def fill(word: str) -> str:
        return _PLACE.sub(lambda found: values.get(found[1], found[0]), word)

    return tuple(word[0] if isinstance(word, tuple) else fill(word) for word in words)


def _write_prompt(prompt: str, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "prompt.md"
    path.write_text(prompt, encoding="utf-8", errors="replace")
    return str(path)


def _require_short(given: AgentDefinition, argv: Words) -> None:
    longest = max(len(word.encode(errors="replace")) for word in argv)
    if longest > MAX_LENGTH:
        message = (
            f"the agent '{given.name}' takes its prompt as an argument, and this prompt is too long: {longest} bytes"
        )
        hint = "let it read the prompt from its input (leave {prompt} out of `command`), or from {prompt_file}"
        raise UsageError(message, next_step=hint)
