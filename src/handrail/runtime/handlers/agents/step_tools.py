"""Offers Handrail's tools to an agent: the server that the agent starts, and the question that it asked with a tool."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import handrail
from handrail.engine.fold.step_tools import question_in
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.run_state import Pending, RunState
from handrail.ports.agents import AgentOutcome, ToolServer
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.handlers.agents.hindrances import Refusal

if TYPE_CHECKING:
    from handrail.model import tokens
else:
    tokens = late_import("handrail.model.tokens")

TOKEN = "HANDRAIL_AGENT_TOKEN"  # noqa: S105 - the name of a variable
RUN, STEP, TOOLS = "HANDRAIL_RUN", "HANDRAIL_STEP", "HANDRAIL_AGENT_TOOLS"
_BOOT = "import sys; sys.path.append(sys.argv.pop(1)); from handrail.cli.main import main; main()"


@frozen
class StepToolSetup:
    """What is needed to give agents tools: the log that records their calls, and the keys of tokens."""

    log: Log
    keys: Callable[[], tuple[bytes, ...]]
    home: Mapping[str, str]
    """Variables by which the server finds the log, whatever the agent's environment contains."""

    def server(self, state: RunState, pending: Pending, spec: dict[str, Any]) -> ToolServer | None:
        """Describe the server of a call; None where its step offers no tools."""
        tools = tuple(map(str, spec.get("handrail_tools") or ()))
        if not tools:
            return None
        token = tokens.mint(tokens.Token("agent", state.run, pending.seq, tokens.NO_BRANCH), self.keys()[0])
        names = {RUN: state.run, STEP: pending.address, TOKEN: token, TOOLS: ",".join(tools)}
        return ToolServer(server_command(), tuple({**names, **self.home}.items()), tools)

    def add_question(self, state: RunState, pending: Pending, outcome: AgentOutcome) -> AgentOutcome:
        """Add to the outcome of a call the question that the agent asked with a tool."""
        if outcome.status != "ok" or outcome.question:
            return outcome
        asked = question_in(decode_event(stored) for stored in self.log.read(state.run, after=pending.seq))
        return replace(outcome, question=asked) if asked else outcome


def hindrance(server: ToolServer | None, manner: dict[str, str]) -> Refusal | None:
    """Explain why a call cannot have its tools; None where it can."""
    if server is None or manner.get("sandbox") != "bwrap":
        return None
    return Refusal(CONFINED, "leave out `sandbox` or `handrail_tools`", missing=False)


CONFINED = "an agent in a sandbox cannot access the log, so it cannot use the tools of Handrail (`handrail_tools`)"


def server_command() -> tuple[str, ...]:
    """Build the command that starts the server of the tools."""
    # Neither the workspace nor the environment may decide which modules it loads.
    root = str(Path(handrail.__file__).parents[1])
    return (sys.executable, "-I", "-X", "utf8", "-c", _BOOT, root, "mcp", "--agent")
