"""The `ctx` of `async def run(ctx)`: what a flow written in Python may request, and what it can read.

Nothing is executed here. A call is described as a step of a workflow and awaited; whoever drives the coroutine has it
executed, or already knows its outcome from an earlier execution.
"""

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from math import isfinite
from typing import Any, TypeAlias, cast

from handrail.authoring.python.steps import Agent, Approval, Call, Gate, Script, Step
from handrail.authoring.python.tree import build_document
from handrail.authoring.python.workflow import Workflow
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, SourceText, plain
from handrail.model.workflow.values import JsonValue

_PYTHON_DOES = ("when", "on_fail", "output")
"""Keys of a step that are better expressed in Python itself."""
_MAX_PATH_LENGTH = 500
Values: TypeAlias = Mapping[str, Any]


class FlowError(Exception):
    """A flow's call cannot be executed as written."""


@frozen
class CallResult:
    """The outcome of a step that a flow called; handling a failure is up to the flow."""

    success: bool
    output: JsonValue
    exit_code: int | None
    stdout: str
    stderr: str
    error: str


@frozen
class Decided:
    """A person's answer to an approval."""

    decision: str
    feedback: str
    by: str

    @property
    def approved(self) -> bool:
        """Whether the answer allows the flow to continue."""
        return self.decision == "approve"


@frozen
class Issue:
    """The issue of the run; all fields are empty where it has none."""

    id: str = ""
    title: str = ""
    body: str = ""
    url: str = ""
    labels: tuple[str, ...] = ()


@frozen
class ResolvedPrompt:
    """The chosen prompt: its text, and its file if it has one."""

    text: str
    path: str = ""

    def __str__(self) -> str:
        """Return the text."""
        return self.text


@frozen(kw_only=True)
class PromptRequest:
    """The argument of a workflow.py's `resolve_prompt` and `resolve_system_prompt`."""

    name: str
    default_path: str
    worktree: str
    issue_id: str
    labels: tuple[str, ...]
    context: dict[str, Any]


@frozen
class Ask:
    """A call by a flow; awaiting it returns its result."""

    step: object
    values: dict[str, Any]

    def __await__(self) -> Generator["Ask", Any, Any]:
        """Pass the call to whoever drives the coroutine."""
        return (yield self)


class FlowContext:
    """The `ctx` of `async def run(ctx)`."""

    def __init__(self, told: Mapping[str, Any], hooks: Mapping[str, object], random: object) -> None:
        self.run: str = told["run"]
        """The id of the run."""
        self.task: str = told["task"]
        self.inputs: dict[str, Any] = told["inputs"]
        self.workspace: str = told["workspace"]
        """The folder in which the run works."""
        self.issue: Issue = _issue(self.inputs)
        self.labels: tuple[str, ...] = self.issue.labels
        self.now: float = told["now"]
        """Seconds since 1970 at the end of the last call; the same on every replay."""
        self.random: Any = random
        """A `random.Random` that yields the same numbers on every replay."""
        self._files: dict[str, str] = told["files"]
        self._hooks = hooks

    def run_step(
        self,
        step: "Step | Mapping[str, Any] | str",
        command: str | None = None,
        values: Values | None = None,
        **keys: Any,
    ) -> Ask:
        """Call a step: an object such as Agent or Gate, or a name with the keys of such a step.

        A name takes `prompt` or `prompt_path` for an agent, `command` for a script, `checks` for a gate, `workflow` for
        another workflow. `values` can be read by `${...}` and `{{ ... }}` in addition to the inputs.
        """
        if not isinstance(step, str):
            if command is not None or keys:
                raise FlowError("a step object already says what to do: set its keys there")
            return _ask(step, values or {})
        if command is not None:
            keys = {"command": command, **keys}
        try:
            return _ask(_step(step, self._resolve_prompts(keys)), values or {})
        except TypeError as error:
            raise FlowError(f"run_step('{step}'): {error}") from error

    def approve(self, message: str, name: str = "approve", **keys: Any) -> Ask:
        """Ask a person for approval; the answer has `approved`, `decision`, `feedback` and `by`."""
        return _ask(Approval(name, message="${message}", **keys), {"message": message})

    def ask(self, question: str, name: str = "ask") -> Ask:
        """Ask a person a question; awaiting it returns the answer as text."""
        return Ask({"name": name, "type": "question"}, {"question": str(question)})

    def sleep(self, seconds: float, name: str = "sleep") -> Ask:
        """Wait for some seconds, without holding a process meanwhile."""
        if not isfinite(seconds) or seconds < 0:
            raise FlowError(f"ctx.sleep needs 0 seconds or more, not {seconds}")
        return Ask({"name": name, "type": "sleep"}, {"seconds": seconds})

    def parallel(self, *_: object, **__: object) -> Ask:
        """Refuse a call that is not supported yet."""
        raise FlowError(
            "ctx.parallel is not supported: call ctx.run_step(ParallelAgents(...)), then ctx.run_step(Merge(...))"
        )

    async def resolve_prompt(self, name: str, default_path: str, **about: Any) -> ResolvedPrompt:
        """Choose the prompt of a step with the workflow.py's `resolve_prompt(request)`, or else the default.

        That function receives `worktree`, `issue_id`, `labels` and `context`.
        """
        found = await self._call_hook("resolve_prompt", self._request(name, default_path, about))
        return self._prompt(default_path if found is None else found)

    async def resolve_system_prompt(
        self, prompts: Mapping[str, str] | None = None, default_path: str = "", **about: Any
    ) -> ResolvedPrompt | None:
        """Choose a system prompt with the workflow.py's `resolve_system_prompt(request)`, or else by label.

        `prompts` maps labels, regardless of case, to files. None where nothing matches and there is no default.
        """
        request = self._request("system", default_path, about)
        found = await self._call_hook("resolve_system_prompt", request)
        if found is None:
            labels = {label.casefold() for label in request.labels}
            fitting = (path for label, path in (prompts or {}).items() if label.casefold() in labels)
            found = next(fitting, default_path or None)
        return None if found is None else self._prompt(found)

    def _request(self, name: str, default_path: str, about: Mapping[str, Any]) -> PromptRequest:
        known = {"worktree", "issue_id", "labels", "context"}
        if about.keys() - known:
            raise FlowError(
                f"a prompt is chosen by {', '.join(sorted(known))}, not by {', '.join(about.keys() - known)}"
            )
        return PromptRequest(
            name=name,
            default_path=default_path,
            worktree=str(about.get("worktree", self.workspace)),
            issue_id=str(about.get("issue_id", self.issue.id)),
            labels=tuple(about.get("labels", self.labels)),
            context=dict(about.get("context", {})),
        )

    async def _call_hook(self, name: str, request: PromptRequest) -> str | None:
        hook = self._hooks.get(name)
        if not callable(hook):
            return None
        found = cast("Callable[[PromptRequest], Any]", hook)(request)
        found = await found if inspect.isawaitable(found) else found
        if found is not None and not isinstance(found, str):
            raise FlowError(f"{name}() returned {type(found).__name__}: return a file, the text of a prompt, or None")
        return found

    def _prompt(self, found: str) -> ResolvedPrompt:
        if found in self._files:
            return ResolvedPrompt(self._files[found], found)
        if found.endswith(".md") and "\n" not in found and len(found) <= _MAX_PATH_LENGTH:
            raise FlowError(
                f"there is no prompt '{found}' beside the workflow, only {', '.join(self._files) or 'none'}"
            )
        return ResolvedPrompt(found)

    def _resolve_prompts(self, keys: dict[str, Any]) -> dict[str, Any]:
        """Convert file paths and resolved prompts in the keys of a step to the keys of the format."""
        found = {
            key: (value.path or value.text) if type(value) is ResolvedPrompt else value for key, value in keys.items()
        }
        if "prompt_path" not in found:
            return found
        if "prompt" in found:
            raise FlowError("pass either prompt or prompt_path, not both")
        path = str(found.pop("prompt_path"))
        if path not in self._files:
            raise FlowError(f"there is no prompt '{path}' beside the workflow, only {', '.join(self._files) or 'none'}")
        return {**found, "prompt": path}


def _step(name: str, keys: dict[str, Any]) -> Step:
    """Build the step that a name and keys describe."""
    if "prompt" in keys:
        return Agent(name, **keys)
    if "workflow" in keys:
        return Call(name, **keys)
    if "checks" in keys or "fix" in keys:
        return Gate(name, **keys)
    if "command" in keys:
        return Script(name, **keys)
    raise FlowError(
        f"run_step('{name}') has nothing to do: pass a prompt, a command, checks, a workflow, or a step object"
    )


def _issue(inputs: Mapping[str, Any]) -> Issue:
    dicts = [cast("dict[str, Any]", value) for value in inputs.values() if isinstance(value, dict)]
    found = next((each for each in dicts if "title" in each), dict[str, Any]())
    said = {name: str(found.get(name) or "") for name in ("id", "title", "url")}
    labels = cast("Sequence[object]", found.get("labels") or ())
    return Issue(**said, body=str(found.get("body") or found.get("description") or ""), labels=tuple(map(str, labels)))


def _ask(made: "Step | Mapping[str, Any]", values: Values) -> Ask:
    name = made.get("name") if isinstance(made, Mapping) else made.name
    given = made if isinstance(made, Mapping) else {key: getattr(made, key, None) for key in _PYTHON_DOES}
    said = [key for key in _PYTHON_DOES if given.get(key) is not None]
    if said:
        raise FlowError(f"step '{name}' sets {', '.join(said)}: in a flow, write that in Python")
    report = Report()
    nowhere = Bundle("call", {"call": SourceText("call", "")})
    document = build_document(Workflow("call", steps=[made]), nowhere, report)
    steps = document.root.get("steps") if document is not None else None
    if steps is None:
        raise FlowError("; ".join(each.message for each in report))
    (step,) = cast("list[object]", plain(steps))
    return Ask(step, dict(values))
