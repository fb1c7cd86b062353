"""Answers the calls of connected agents: checks what they send, and passes each intent to its operation."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from handrail.engine.contracts.schema import issues
from handrail.engine.decide.from_outside import DECISIONS
from handrail.errors import HandrailError, InvalidWorkflow, NotFound
from handrail.model.actors import make_person
from handrail.model.history.events import Decision
from handrail.model.tokens import Token
from handrail.operations.pull.answers import Answer
from handrail.operations.pull.call_context import CallContext, PullError
from handrail.operations.pull.continue_workflow import StepSubmission, advance_pulled
from handrail.operations.pull.rehydrate import checkpoint, rehydrate
from handrail.operations.pull.start_workflow import StartRequest, start_pulled, start_pulled_on_issue
from handrail.operations.runs.lifecycle import answer
from handrail.runtime.watcher import Watcher
from handrail.serve.mcp.answer_text import (
    make_sendable,
    render_answer,
    render_checkpoint,
    render_error,
    render_fault,
    render_refusal,
)
from handrail.serve.mcp.catalogue_calls import list_workflows
from handrail.serve.mcp.elicitation import PersonAnswer
from handrail.serve.mcp.inspection_calls import inspect_workflow
from handrail.serve.mcp.lazy_calls import Report, report_nothing
from handrail.serve.mcp.resume_session_calls import resume_session
from handrail.serve.mcp.tool_result import ToolResult
from handrail.serve.mcp.tools import TOOLS, Tool, find_unwritable

TIMEOUT = 25.0
"""Seconds that a call waits for a step of the engine before it answers that the engine is at work."""
_POLL_INTERVAL = 0.05
_REPORT_EVERY = 1.0
"""Seconds between two progress reports of a call."""

Arguments = dict[str, Any]


@dataclass(slots=True)
class Calls:
    """Answers calls of tools."""

    ctx: CallContext
    patience: float = TIMEOUT

    async def call(self, name: str, arguments: Arguments, report: Report = report_nothing) -> ToolResult:
        """Answer one call; whatever is wrong with it is part of the answer."""
        result = make_sendable(await self._answer(name, arguments, report))
        return result if self.ctx.person is not None else replace(result, question=None)

    async def _answer(self, name: str, arguments: Arguments, report: Report) -> ToolResult:
        tool = _BY_NAME.get(name)
        if tool is None:
            return render_error("NOT_FOUND", f"there is no tool '{name}'", f"the tools are {', '.join(_BY_NAME)}")
        given = {tool.aliases.get(key, key): value for key, value in arguments.items()}
        wrong = issues(tool.schema, given) or find_unwritable(given)
        if wrong:
            return render_error("VALIDATION_ERROR", "; ".join(wrong), f"call {name} with arguments that fit its schema")
        try:
            return await _HANDLERS[name](self, given, report)
        except PullError as error:
            return render_refusal(error)
        except NotFound as error:
            return render_error("NOT_FOUND", error.message, error.next_step or "call list_workflows")
        except InvalidWorkflow as error:
            return render_error("INVALID_WORKFLOW", _describe_invalid_workflow(error), error.next_step or "")
        except (HandrailError, OSError) as error:
            return render_fault(error)

    async def start(self, given: Arguments, report: Report) -> ToolResult:
        """Start a workflow."""
        wanted = StartRequest(
            workflow=given["workflowId"],
            workspace=given["workspacePath"],
            goal=given["goal"],
            context=given.get("context") or {},
            request=given.get("requestId") or "",
            issue=given.get("issue") or "",
        )
        begun = await start_pulled_on_issue(self.ctx, wanted) if wanted.issue else start_pulled(self.ctx, wanted)
        again = begun.continue_token or ""
        return render_answer(
            await self._wait_for_engine(
                begun, lambda: rehydrate(self.ctx, self.ctx.read(again, "continue"), first=True), report
            )
        )

    async def continue_workflow(self, given: Arguments, report: Report) -> ToolResult:
        """Complete a step, or look at it again."""
        if _intent(given) == "rehydrate":
            token = self.ctx.read(given["continueToken"], "continue", "resume")
            looked = rehydrate(self.ctx, token)
            return render_answer(await self._wait_for_engine(looked, lambda: rehydrate(self.ctx, token), report))
        token = self.ctx.read(given["continueToken"], "continue")
        output = cast("Arguments", given.get("output") or {})
        handed = StepSubmission(
            notes=output.get("notesMarkdown") or "",
            artifacts=tuple(output.get("artifacts") or ()),
            context=given.get("context") or {},
            result=output.get("result"),
        )
        done = advance_pulled(self.ctx, token, handed)
        return render_answer(await self._wait_for_engine(done, lambda: advance_pulled(self.ctx, token, handed), report))

    async def decide(self, said: PersonAnswer) -> ToolResult:
        """Accept the answer of the person at the client, and return the state of the run after it."""
        ctx, run = self.ctx, said.question.run
        if ctx.person is None or said.decision not in DECISIONS:
            return render_error(
                "USER_ONLY_DEPENDENCY", f"{run} is still waiting for a person", f"handrail status {run}"
            )
        by = make_person(f"{ctx.person.name}, asked through {said.client}")
        try:
            answer(ctx.writer, run, cast("Decision", said.decision), str(by), said.feedback)
        except HandrailError as error:
            return make_sendable(render_fault(error))
        ctx.wake(run)
        token = ctx.read(said.question.token, "continue")
        return make_sendable(
            render_answer(
                await self._wait_for_engine(
                    self._answer_after_inbox(token), lambda: self._answer_after_inbox(token), report_nothing
                )
            )
        )

    def _answer_after_inbox(self, token: Token) -> Answer:
        """Look at the state of a run once it has processed what was said."""
        on_its_way = bool(self.ctx.log.inbox(token.run, limit=1))
        found = rehydrate(self.ctx, token)
        return replace(found, working=True) if on_its_way else found

    async def checkpoint_workflow(self, given: Arguments, _: Report) -> ToolResult:
        """Save a point."""
        kept = checkpoint(self.ctx, self.ctx.read(given["checkpointToken"], "checkpoint"))
        return render_checkpoint(kept)

    async def _wait_for_engine(self, found: Answer, again: Callable[[], Answer], report: Report) -> Answer:
        """Wait for the engine's own steps, as long as an agent can be expected to wait, and report that it waits."""
        if not found.working:
            return found
        loop = asyncio.get_running_loop()
        began = reported = loop.time()
        ends = began + self.patience
        watcher = Watcher(self.ctx.log)
        lookout = watcher.lookout(_POLL_INTERVAL)
        try:
            while found.working and loop.time() < ends:
                if loop.time() >= reported:
                    reported += _REPORT_EVERY
                    await report(loop.time() - began, f"Handrail is working on {found.state.run}")
                await lookout.wait(max(0.0, min(reported, ends) - loop.time()))
                found = again()
        finally:
            watcher.close()
        return found


def _intent(given: Arguments) -> str:
    """Return the intent of a call: without one, anything sent completes the step, and nothing sent only looks."""
    if "intent" in given:
        return given["intent"]
    return "advance" if given.get("output") is not None or given.get("context") else "rehydrate"


def _describe_invalid_workflow(error: InvalidWorkflow) -> str:
    wrong = [each for each in error.diagnostics if each.is_error][:5]
    return "\n".join((error.message, *(f"- {each.file}:{each.line}: {each.message}" for each in wrong)))


Handler: TypeAlias = Callable[[Calls, Arguments, Report], Awaitable[ToolResult]]


def _make_context_handler(answer: Callable[[CallContext, Arguments], ToolResult]) -> Handler:
    """Return a handler that answers at once, from what the context has."""

    async def handle(calls: Calls, given: Arguments, _: Report) -> ToolResult:
        return answer(calls.ctx, given)

    return handle


_BY_NAME: dict[str, Tool] = {tool.name: tool for tool in TOOLS}
_HANDLERS: dict[str, Handler] = {
    "start_workflow": Calls.start,
    "continue_workflow": Calls.continue_workflow,
    "checkpoint_workflow": Calls.checkpoint_workflow,
    "list_workflows": _make_context_handler(list_workflows),
    "inspect_workflow": _make_context_handler(inspect_workflow),
    "resume_session": _make_context_handler(resume_session),
}
