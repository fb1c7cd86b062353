"""The scripted agent: plays what a script says, as a real process, the same way every time."""

from hashlib import sha256
from typing import TYPE_CHECKING

from handrail.agents.played.files import EVERYTHING, play, read_script
from handrail.agents.played.scripted_lines import ScriptedLines, describe_line
from handrail.errors import UsageError
from handrail.late_import import late_import
from handrail.ports.agents import SCRIPTED, Abilities, AgentCall, Launch, TranscriptReader

if TYPE_CHECKING:
    from handrail.agents import tracker_tools
    from handrail.agents.played.scripted_task import Task
else:
    tracker_tools = late_import("handrail.agents.tracker_tools")


class ScriptedAgent:
    """An `Agent` whose answers come from a file, for tests, trials and demonstrations."""

    @property
    def name(self) -> str:
        """Its name in workflows."""
        return SCRIPTED

    @property
    def can(self) -> Abilities:
        """Everything: it does what the script says and refuses what the step forbids."""
        return EVERYTHING

    @property
    def variables(self) -> tuple[str, ...]:
        """It has no vendor."""
        return ()

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Choose the turn, write it to `folder`, and build the command that plays it."""
        script = read_script(_script_of(call))
        task: Task = {
            "workspace": call.workspace,
            "session": call.session or session_of(call),
            "access": call.access,
            "allowed_tools": None if call.allowed_tools is None else list(call.allowed_tools),
            "disallowed_tools": list(call.disallowed_tools),
            "quiet": sorted(tracker_tools.NAMES) if call.no_comment else [],
            "server": [] if call.server is None else list(call.server.command),
            "own_tools": [] if call.server is None else list(call.server.tools),
            "turn": script.turn(call.address, call.turn, call.turn_in_round),
        }
        return play("scripted_program", task, call, folder)

    def lines(self) -> ScriptedLines:
        """Return a reader for one call."""
        return ScriptedLines()

    def transcript(self) -> TranscriptReader:
        """Give a reader of the kinds of its lines."""
        from handrail.agents.played.scripted_transcript import ScriptedTranscript  # noqa: PLC0415 - most calls are never transcribed

        return ScriptedTranscript()

    def describe_line(self, line: bytes) -> str | None:
        """Describe what a line shows it doing: a tool with its argument, or its text."""
        return describe_line(line)


def session_of(call: AgentCall) -> str:
    """Return the id of the conversation that a call begins: the same for the same call."""
    words = "\0".join((call.run, call.address, str(call.turn)))
    return f"scripted-{sha256(words.encode(errors='replace')).hexdigest()[:16]}"


def _script_of(call: AgentCall) -> str:
    path = call.options.get("script")
    if not path:
        raise UsageError("the scripted agent needs a script", next_step="add `--script FILE`")
    return path
