"""Calls an agent and judges how the call ended.

1. A call is a process with files, like a command: it survives us, and is adopted and awaited afterwards.
2. A lost call is made again from the snapshot on which it began; the work of the lost one is saved under a ref.
3. The agent's answer is judged here: a result that does not have the required shape is returned as a failed try.
4. An agent that cannot answer now (a limit, an overload) is not a failed try: the run waits and asks again.
5. An agent that is silent for too long, or spends more than is left, is ended in the middle of its work.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from handrail.errors import HandrailError, NotFound, UsageError
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.events import QuestionAsked, RunBlocked, StepBegan, StepEnded, WorkReported
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.types import Type
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import Agent, AgentCall, AgentOutcome, Agents, Configurable, Launch, is_played, unmet
from handrail.ports.processes import Ended, Gone, ProcessSpec
from handrail.runtime.event_records import HeldBlobs
from handrail.runtime.handlers.agents.account_limits import (
    FOLDER,
    AccountLimits,
    Accounts,
    StartPacing,
    agent_environment,
)
from handrail.runtime.handlers.agents.call import (
    NOTE,
    attach_printed_output,
    attach_project_files,
    call_of,
    compute_spending,
    extract_result,
    fit_result,
    inline_system_prompt,
    inputs_of,
    put_script,
    split_answer,
    subtract_earlier_usage,
)
from handrail.runtime.handlers.agents.hindrances import (
    Answered,
    Refusal,
    explain_failure,
    handle_refusal,
    mark_budget_exhausted,
    mark_hindrance,
    require_login,
)
from handrail.runtime.handlers.agents.host import ATTACHMENTS, AgentHost, needs_window, show, strip_launch_options
from handrail.runtime.handlers.agents.live_messages import ListMessages, LiveMessages, can_listen, open_message_folder
from handrail.runtime.handlers.agents.step_tools import StepToolSetup
from handrail.runtime.handlers.agents.step_tools import hindrance as untooled
from handrail.runtime.handlers.agents.watch import CallTermination, CallWatch
from handrail.runtime.handlers.commands.start_command import (
    GRACE,
    MAX_TEXT,
    CommandContext,
    CommandStarter,
    LostCommand,
    require_started,
)
from handrail.runtime.ports import Clock, step_duration

if TYPE_CHECKING:
    from handrail.engine.contracts import result_in_text
    from handrail.ports.repositories import TrustedFiles
    from handrail.runtime.handlers.agents import project_files
else:
    project_files = late_import("handrail.runtime.handlers.agents.project_files")
    result_in_text = late_import("handrail.engine.contracts.result_in_text")

SLOT = "agent"
MAX_TRANSCRIPT = 256 << 20
"""How much of an agent's output is read, in bytes."""
MAX_COMPLAINT = 2000
"""How much of the error output of an agent without a result is shown, in bytes."""


@frozen
class AgentHandler:
    """Performs calls of agents."""

    starts: CommandStarter
    agents: Agents
    blobs: HeldBlobs
    folder: Path
    clock: Clock
    restore: Callable[[RunState], Awaitable[object]]
    host: AgentHost | None = None
    """Confines agents and opens windows on them; None where agents are only played, without sandbox and windows."""
    tooling: StepToolSetup | None = None
    """Provides agents with Handrail's tools; without it none are offered."""
    said: ListMessages | None = None
    """Reads what people say to a run; without it no agent receives messages in the middle of a call."""
    pace: StartPacing = field(default_factory=StartPacing)
    trusted: "TrustedFiles | None" = None
    """Knows which files of a repository the user has trusted; without it none are."""

    async def perform(self, state: RunState, pending: Pending, began: StepBegan, returns: Type | None) -> Answered:
        """Call the agent, or continue with the call that was made before."""
        spec = cast("dict[str, Any]", began.spec)
        try:
            source = state.pinned or state.source
            agent = self.agents.find(spec.get("agent"), state.workspace if source is None else source.repository)
        except HandrailError as error:
            missing = Refusal(error.message, error.next_step or "install it, or name another agent")
            return handle_refusal(state, pending, began, missing, self.clock())
        effect = self._effect(state, pending, began)
        while True:
            place = await self.starts.place(effect, SLOT)
            if isinstance(place, LostCommand):
                message = f"step '{pending.address}': {place.why}"
                return RunBlocked(
                    reason="step",
                    message=message,
                    address=pending.address,
                    next_step="check what it has done, then resume: it is called again",
                    at=self.clock(),
                )
            if self.starts.processes.look(str(place)) is None:
                call = inline_system_prompt(
                    agent.can, call_of(state, pending, spec, place), goes_on=bool(spec.get("goes_on"))
                )
                server = None if self.tooling is None else self.tooling.server(state, pending, spec)
                call = call if server is None else replace(call, server=server)
                call = replace(call, listens=self.said is not None and can_listen(state, pending, began, agent))
                refusal = await self._start(state, agent, call, effect, place)
                if refusal is not None:
                    return handle_refusal(state, pending, began, refusal, self.clock())
            await self._show_window(state, pending, began, place)
            speech = LiveMessages(self.said, agent, place, pending, began, state.run)
            prices = self.agents.catalog.prices
            oldest = step_duration(self.clock, state, began)
            watch = CallWatch(self.starts.processes, agent, place, began.spec, speech.speak, prices, oldest)
            ended = await watch.wait_for_end(effect)
            timed = replace(began, at=self.clock() - step_duration(self.clock, state, began))
            if isinstance(ended, CallTermination):
                gave_result = watch.has_result
                how = await self.starts.processes.end(str(place), GRACE)
                outcome, printed = self._read(agent, place, how)
                outcome = subtract_earlier_usage(state, began, outcome)
                # Its usage, its conversation and a result that it gave are still recorded.
                outcome = outcome if gave_result else ended.cut_outcome(outcome)
                judged = mark_budget_exhausted(outcome, self._judge_outcome(pending, timed, outcome, returns))
                return self._attach_output(place, printed, speech.attach_heard_messages(outcome, judged))
            if isinstance(ended, Ended):
                require_started(ended, effect.workspace)
                outcome, printed = self._read(agent, place, ended)
                outcome = subtract_earlier_usage(state, began, outcome)
                self._accounts.record_outcome(state, agent, outcome)
                outcome = self._add_question(state, pending, spec, outcome)
                judged = mark_hindrance(state, began, outcome, self._judge_outcome(pending, timed, outcome, returns))
                return self._attach_output(place, printed, speech.attach_heard_messages(outcome, judged))

    def _attach_output(self, place: Path, printed: bytes, judged: Answered) -> Answered:
        return attach_printed_output(self.blobs, printed, attach_project_files(place, judged))

    async def stop(self, state: RunState, pending: Pending, began: StepBegan) -> None:
        """End a call, with everything that it started."""
        await self.starts.stop(self._effect(state, pending, began), SLOT)

    def has_begun(self, state: RunState, pending: Pending, began: StepBegan) -> bool:
        """Whether a call was started before."""
        return any(self.starts.find_starts(self._effect(state, pending, began), SLOT))

    def judge_report(self, pending: Pending, began: StepBegan, report: WorkReported, returns: Type | None) -> StepEnded:
        """Judge what a connected agent submitted; its costs are not counted."""
        output, has_output = (report.output, report.has_output) if returns is None else extract_result(returns, report)
        outcome = AgentOutcome(status="ok", text=report.text, output=output, has_output=has_output)
        judged = cast("StepEnded", self._judge_outcome(pending, began, outcome, returns))
        given: dict[str, JsonValue] = {"artifacts": list(report.artifacts)} if report.artifacts else {}
        details: dict[str, JsonValue] = {**judged.details, "spent": {}, "agent": "", **given}
        return replace(judged, by=report.by, details=details)

    def _effect(self, state: RunState, pending: Pending, began: StepBegan) -> CommandContext:
        timeout = cast("float | None", began.spec.get("timeout"))
        effect = CommandContext(
            run=state.run,
            seq=pending.seq,
            workspace=state.workspace,
            base=self.folder / state.run / str(pending.seq),
            timeout=timeout,
            pass_env=state.pass_env,
            on_lost=partial(self.restore, state),
        )
        if timeout is None:
            return effect
        spent = min(step_duration(self.clock, state, began), timeout) if self.starts.is_running(effect, SLOT) else 0.0
        until = asyncio.get_running_loop().time() + timeout - spent
        return replace(effect, until=until)

    @property
    def _accounts(self) -> Accounts:
        return Accounts(AccountLimits(self.folder.with_name(FOLDER)), self.starts.environments, self.clock)

    def _add_question(
        self, state: RunState, pending: Pending, spec: dict[str, Any], outcome: AgentOutcome
    ) -> AgentOutcome:
        """Add to the outcome of a call the question that the agent asked a person with a tool."""
        if self.tooling is None or not spec.get("handrail_tools"):
            return outcome
        return self.tooling.add_question(state, pending, outcome)

    async def _start(
        self, state: RunState, agent: Agent, call: AgentCall, effect: CommandContext, place: Path
    ) -> Refusal | None:
        """Start a call; return why it cannot be made and what helps, where it cannot."""
        missing = unmet(agent.name, agent.can, call)
        if missing:
            return Refusal("; ".join(missing), "change the step, or name another agent for it", missing=False)
        limit = self._accounts.find_limit(state, agent)
        if limit is not None:
            return Refusal(limit.words, "", limit=limit)
        call = strip_launch_options(call) if self.host is None else call
        manner = {**call.options, "access": call.access}
        hindrance = (self.host and self.host.hindrance(manner)) or untooled(call.server, manner)
        if hindrance is not None:
            return hindrance
        environment = self.starts.environments.environment_of(effect.run)
        variables = agent_environment(environment, agent, effect.pass_env)
        call = replace(call, environ=variables)
        inputs = inputs_of(place)
        inputs.mkdir(mode=0o700, parents=True, exist_ok=True)
        if call.options.get("script"):
            put_script(self.blobs, call.options)
        launch = self._launch(state, agent, call, inputs)
        if isinstance(launch, Launch) and await self.pace.turn(agent.name, launch.apart):
            launch = self._launch(state, agent, call, inputs)  # The files may have changed meanwhile.
        if isinstance(launch, Refusal):
            return launch
        own = {} if call.server is None else dict(call.server.env)
        env = {**variables, **own, **dict(launch.env)}
        # A played agent logs in nowhere.
        played = is_played(agent.name)
        way = "" if played else await asyncio.to_thread(environment.login_hint, agent.name, launch.argv, env)
        if way:
            return require_login(agent.name, way, state.family)
        talk = open_message_folder(launch, inputs)
        stdin = launch.stdin if talk is None else b""
        attached = self.folder / state.family / ATTACHMENTS
        places = (Path(effect.workspace), inputs, *((attached,) if attached.is_dir() else ()))
        argv = launch.argv if self.host is None else self.host.wrap(launch.argv, manner, agent.name, env, places)
        key = f"{effect.run}:{effect.seq}:{place.name}"
        named, secrets = tuple(sorted(env.items())), tuple(environment.secrets.items())
        spec = ProcessSpec(key, argv, effect.workspace, named, str(place), talk=talk, stdin=stdin, secrets=secrets)
        self.starts.processes.start(spec)
        return None

    def _launch(self, state: RunState, agent: Agent, call: AgentCall, inputs: Path) -> Launch | Refusal:
        """Build the launch of a call, without the repository's files that configure the agent unless trusted."""
        if isinstance(agent, Configurable):
            repository = "" if state.tree is None else state.tree.repository
            files = agent.project_files(call.access)
            home = self.starts.environments.environment_of(state.run).variables().get("HOME", "")
            verdict = project_files.examine(files, call.workspace, repository, self.trusted, home)
            if verdict.untrusted and not agent.can.without_project_files:
                return project_files.refusal(agent.name, verdict, repository or call.workspace)
            project_files.write_note(inputs / NOTE, verdict)
            call = replace(call, project=verdict.project)
        try:
            return agent.launch(call, str(inputs))
        except UsageError as error:
            hint = error.next_step or "install it, or name another agent"
            return Refusal(error.message, hint, missing=isinstance(error, NotFound))

    async def _show_window(self, state: RunState, pending: Pending, began: StepBegan, place: Path) -> None:
        """Open a window on a running call, where somebody asked for one; the call does not depend on it."""
        if self.host is not None and needs_window(self.folder, state.family, began.spec):
            agent = str(began.spec.get("agent") or "")
            await asyncio.to_thread(show, self.host.windows, state, pending, agent, place)

    def _read(self, agent: Agent, place: Path, ended: Ended | Gone) -> tuple[AgentOutcome, bytes]:
        """Read the outcome of a call and what it printed."""
        lines = agent.lines()
        printed = self.starts.processes.read_output(str(place), "stdout", MAX_TRANSCRIPT, tail=False)
        for line in printed.splitlines():
            lines.feed(line)
        outcome = lines.outcome(ended)
        if outcome.status != "crashed":
            return outcome, printed
        said = self.starts.processes.read_output(str(place), "stderr", MAX_COMPLAINT, tail=True)
        words = said.decode(errors="replace").strip()
        return (replace(outcome, message=f"{outcome.message}: {words}") if words else outcome), printed

    def _judge_outcome(
        self, pending: Pending, began: StepBegan, outcome: AgentOutcome, returns: Type | None
    ) -> StepEnded | QuestionAsked:
        now = self.clock()
        outcome, artifacts = split_answer(outcome, began.spec)
        took = compute_spending(outcome.usage, outcome.cost, began.spec, now - began.at, self.agents.catalog.prices)
        used: JsonValue = None if outcome.total is None else list(outcome.total.parts)
        if outcome.status == "ok" and outcome.question:
            return QuestionAsked(
                address=pending.address,
                began=pending.seq,
                question=outcome.question,
                session=outcome.session or "",
                spent=took,
                used=used,
                at=now,
            )
        details: dict[str, JsonValue] = {
            "summary": outcome.text[-MAX_TEXT:],
            "session": outcome.session or "",
            "spent": cast("JsonValue", took),
            "agent": began.spec.get("agent"),
            **({} if used is None else {"used": used}),
            **({"denied": outcome.message} if outcome.status == "ok" and outcome.message else {}),
            **({"drift": outcome.drift} if outcome.drift else {}),
            **({"artifacts": artifacts} if artifacts else {}),
        }
        output: JsonValue = outcome.output if outcome.has_output else outcome.text
        error, more = explain_failure(outcome)
        if not error and returns is not None:
            output, error, more = fit_result(outcome, returns)
        elif not error and "schema" in began.spec and not outcome.has_output:
            found = result_in_text.find_result(outcome.text)
            output = outcome.text if found is None else found
        return StepEnded(
            address=pending.address,
            began=pending.seq,
            status="failed" if error else "succeeded",
            output=output,
            stdout=outcome.text[-MAX_TEXT:],
            error=error,
            details={**details, **more},
            at=now,
        )
