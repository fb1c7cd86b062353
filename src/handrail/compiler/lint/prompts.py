"""The texts that agents receive, each with the position where it was written."""

from collections.abc import Iterator

from handrail.authoring.readers.locate import span_at
from handrail.compiler.lint.walk import Visit, scalar
from handrail.frozen import frozen
from handrail.model.source import Document, Mapping, Node, Scalar, Sequence, SourceText, Span
from handrail.model.workflow.actions import (
    Action,
    AgentAction,
    AgentLoopAction,
    GateAction,
    MergeAction,
    PullRequestAction,
)
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import Prompt


@frozen(eq=False)
class PromptText:
    """A text for an agent: a scalar of the workflow's file, or a prompt file."""

    text: str
    place: Scalar | SourceText
    visit: Visit | None
    task: AgentTask | None = None
    is_template: bool = False

    def locate(self, start: int, end: int) -> Span:
        """Return the position of a part of the text."""
        if isinstance(self.place, Scalar):
            return span_at(self.place, start, end)
        # The prompt's own text is at the end of the file, after the header.
        base = len(self.place.text) - len(self.text)
        return Span(self.place, base + start, base + end)


Keys = tuple[tuple[str, ...], ...]
"""The places where a task's prompt may be written, in the order of lookup."""
REVIEWER: Keys = (("reviewer", "prompt"), ("reviewer",), ("prompt",))
ARBITER: Keys = (("arbiter", "prompt"), ("arbiter",), ("arbiter_prompt",))
FIXER: Keys = (("fixer", "prompt"), ("fixer",))
FIX: Keys = (("fix", "prompt"), ("fix",))
CONFLICT: Keys = (("on_conflict", "prompt"), ("on_conflict",))
FOLLOW: Keys = (("follow", "fix", "prompt"), ("follow", "fix"))


def tasks(action: Action) -> Iterator[tuple[AgentTask, Keys]]:
    """List the tasks that a step gives to agents."""
    match action:
        case AgentAction(task):
            yield task, (("prompt",),)
        case AgentLoopAction(reviewer=reviewer, arbiter=arbiter, fixer=fixer):
            yield reviewer, REVIEWER
            yield from _optional_task(arbiter, ARBITER)
            yield from _optional_task(fixer, FIXER)
        case GateAction(fix=fix):
            yield from _optional_task(fix, FIX)
        case MergeAction(on_conflict=task):
            yield from _optional_task(task, CONFLICT)
        case PullRequestAction(body=body, follow=follow):
            yield from _optional_task(body if isinstance(body, AgentTask) else None, (("body", "prompt"),))
            yield from _optional_task(follow.fix if follow is not None else None, FOLLOW)
        case _:
            return


def _optional_task(task: AgentTask | None, keys: Keys) -> Iterator[tuple[AgentTask, Keys]]:
    if task is not None:
        yield task, keys


def collect_texts(visits: tuple[Visit, ...], document: Document) -> tuple[PromptText, ...]:
    """Collect the texts for agents from the workflow's own files; prompts of the library are not the author's."""
    if document.dialect == "workrail":
        return tuple(_workrail_texts(visits, document.root))
    files = {source.path: source for source in document.bundle.files.values()}
    return tuple(found for visit in visits if visit.node is not None for found in _native_texts(visit, files))


def _native_texts(visit: Visit, files: dict[str, SourceText]) -> Iterator[PromptText]:
    for task, keys in tasks(visit.step.action):
        written = next((found for path in keys if (found := scalar(visit.node, *path)) is not None), None)
        yield from _prompt_texts(visit, task, task.prompt, written, files)
        own = scalar(visit.node, "system_prompt")
        if task.system_prompt is not None and own is not None:
            yield from _prompt_texts(visit, task, task.system_prompt, own, files)


def _prompt_texts(
    visit: Visit, task: AgentTask, prompt: Prompt, written: Scalar | None, files: dict[str, SourceText]
) -> Iterator[PromptText]:
    templated = prompt.syntax == "template"
    if prompt.file is None and written is not None:
        yield PromptText(prompt.text, written, visit, task, templated)
    elif prompt.file in files:
        yield PromptText(prompt.text, files[prompt.file], visit, task, templated)


GUIDED_KEYS = ("prompt", "promptBlocks", "promptFragments", "guidance", "audit", "verification", "synthesis")
NON_PROMPT_KEYS = frozenset({"id", "refId", "when", "kind", "outputContract", "command"})


def _workrail_texts(visits: tuple[Visit, ...], root: Mapping) -> Iterator[PromptText]:
    for each in _leaves(root.get("metaGuidance")):
        yield PromptText(str(each.value), each, None)
    for visit in visits:
        for key in GUIDED_KEYS if visit.node is not None else ():
            for each in _leaves(visit.node.get(key) if visit.node is not None else None):
                yield PromptText(str(each.value), each, visit)


def _leaves(node: Node | None) -> Iterator[Scalar]:
    match node:
        case Scalar(value=str()):
            yield node
        case Sequence():
            for item in node.items:
                yield from _leaves(item)
        case Mapping():
            for entry in node:
                if entry.name not in NON_PROMPT_KEYS:
                    yield from _leaves(entry.value)
        case _:
            return
