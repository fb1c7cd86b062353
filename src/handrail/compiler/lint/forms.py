"""Markers in the wrong place: around conditions, which need none, and `${...}` in prompts, where it is plain text."""

from handrail.authoring.native.steps import STEPS
from handrail.authoring.shapes.conform import choose
from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.prompts import PromptText
from handrail.compiler.lint.walk import Visit, scalar
from handrail.compiler.native.check_steps import FAILURES
from handrail.compiler.native.delivery import CONFLICT, PULL_REQUEST
from handrail.compiler.record_types import REVIEW_ROUND
from handrail.compiler.scope import Scope
from handrail.language.problems import LanguageError
from handrail.language.templates.interpolate import parse_condition
from handrail.language.templates.parse import placeholders
from handrail.model.names import make_identifier
from handrail.model.source import Scalar
from handrail.model.workflow.actions import Each, GroupAction

BARE = ("when", "while", "until", "exit_when", "warn_when", "key", "after")


def lint_wrapped_conditions(context: LintContext) -> None:
    """Advise to write conditions without markers."""
    for visit in context.own if context.document.dialect == "native" else ():
        for key in BARE:
            written = scalar(visit.node, key)
            if written is not None and not (key == "key" and _is_text(visit)):
                _lint_wrapped(context, key, written)


def _is_text(visit: Visit) -> bool:
    """Whether the key is a text with holes rather than an expression, as on a pull request."""
    return visit.node is not None and choose(STEPS, visit.node) == "pull-request"


def _lint_wrapped(context: LintContext, key: str, written: Scalar) -> None:
    text = written.value
    if not isinstance(text, str) or ("${" not in text and "{{" not in text):
        return
    try:
        parsed = parse_condition(text)
    except LanguageError:
        return
    if parsed.wrapped:
        mark = "${...}" if "${" in text else "{{...}}"
        message = f"`{key}` is already an expression and needs no `{mark}`"
        context.report.advice("wrapped-condition", message, written, f"write `{key}: {parsed.bare}`")


def lint_placeholders(context: LintContext) -> None:
    """Warn of `${name}` in a prompt where the name is known: the agent would read it literally."""
    marked = [told for told in context.texts if told.is_template and "${" in told.text]
    if not marked:
        return
    names = KnownNames(context)
    for told in marked:
        for found in placeholders(told.text):
            if names.is_known(told, found.message.split(".")[0]):
                message = f"`${{{found.message}}}` is plain text in a prompt; the agent does not see the value"
                at = told.locate(found.start, found.end)
                context.report.warning("placeholder-in-prompt", message, at, found.hint)


TASK_NAMES: dict[str, frozenset[str]] = {
    "agent-loop": frozenset(REVIEW_ROUND),
    "gate": frozenset(FAILURES),
    "merge": frozenset(CONFLICT),
    "pull-request": frozenset(PULL_REQUEST),
}
"""The names in prompts beyond those around the step, by kind of step."""


class KnownNames:
    """Which names a prompt may use, found by where each is defined, without building a scope per step."""

    def __init__(self, context: LintContext) -> None:
        self._always = frozenset(Scope(context.plan.inputs).names)
        self._outputs: dict[str, list[Visit]] = {}
        for visit in context.visits:
            if visit.step.output is not None:
                self._outputs.setdefault(make_identifier(visit.step.output), []).append(visit)

    def is_known(self, told: PromptText, name: str) -> bool:
        """Whether a name has a value where a prompt is rendered."""
        visit = told.visit
        if name in self._always or visit is None:
            return name in self._always
        if name in TASK_NAMES.get(visit.step.action.kind, ()) or any(name == each.name for each in visit.step.input):
            return True
        return self._is_loop_name(visit, name) or any(_is_in_scope(each, visit) for each in self._outputs.get(name, ()))

    def _is_loop_name(self, visit: Visit, name: str) -> bool:
        for around in visit.ancestors():
            over = getattr(around.step.action, "over", None)
            if isinstance(over, Each) and make_identifier(over.item) == name:
                return True
            if name == "round" and around.step.action.kind == "loop":
                return True
        return False


def _is_in_scope(made: Visit, visit: Visit) -> bool:
    """Whether what a step defines is known at a later one; it never leaves the body of a fan-out or routine."""
    if made.order >= visit.order:
        return False
    inside = {id(each) for each in visit.ancestors()}
    closed = [each for each in made.ancestors() if each.step.action.kind in ("parallel-agents", "use")]
    return all(id(each) in inside for each in closed) and not (
        _routine(visit) and _routine(made) is not _routine(visit)
    )


def _routine(visit: Visit) -> Visit | None:
    return next((each for each in visit.ancestors() if isinstance(each.step.action, GroupAction)), None)
