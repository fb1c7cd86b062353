"""First pass: replaces each step that calls a template with the steps of its routine."""

import re

from handrail.authoring.readers.limits import shorten
from handrail.compiler.workrail.message_names import describe_unknown, list_names, quote_name
from handrail.compiler.workrail.passes_state import MAX_STEPS, Compilation
from handrail.compiler.workrail.routines import Routine, RoutineProblem, routine_name, template_ids
from handrail.compiler.workrail.tree import make_scalar, mapping, move_node, node_of, set_entry, text, texts
from handrail.compiler.workrail.visit import rewrite
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import Document, Entry, Mapping, Scalar, Span
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.plan import Injected

PLACE = re.compile(r"(?<!\{)\{([^{}]+)\}(?!\})")
"""`{name}` in a routine's text, with single braces."""
MAX_ARGUMENT_LENGTH = 2048
MAX_PROMPT_LENGTH = 32_768
"""The limit for an expanded step, because an argument may occur in a prompt many times."""
KEPT = frozenset({"id", "type", "title", "templateCall", "templateId", "args", "runCondition"})
"""Keys that have a meaning on a calling step, or that every step must have."""


@frozen
class Call:
    """One call of a template."""

    step: Mapping
    caller: str
    template: Scalar
    holder: Mapping
    """The mapping that holds the template and its arguments: `templateCall`, or the step."""

    @property
    def template_id(self) -> str:
        """The template id as text."""
        return str(self.template.value)

    @property
    def args(self) -> tuple[Entry, ...]:
        """The arguments as they were written."""
        return tuple(mapping(self.holder, "args") or ())


def expand_templates(document: Document, work: Compilation) -> Document:
    """Expand every template call."""
    return rewrite(document, lambda step: _expand(step, work))


def _expand(step: Mapping, work: Compilation) -> tuple[Mapping, ...]:
    holder = mapping(step, "templateCall") or step
    template = holder.get("templateId")
    call = Call(step, text(step, "id") or "", template, holder) if isinstance(template, Scalar) else None
    if call is None:
        return (step,)
    _warn_of_dropped(step, work.report)
    routine = _routine(call, work)
    if routine is None or len(work.injected) > MAX_STEPS:
        return ()
    values = _arguments(call, routine, work.report)
    return tuple(_expand_step(call, routine, each, values, work) for each in routine.steps)


def _warn_of_dropped(step: Mapping, report: Report) -> None:
    for entry in step:
        if entry.name not in KEPT:
            hint = "remove it; set it on the steps of the routine instead"
            report.warning("no-effect", f"'{entry.name}' has no effect on a template call", entry, hint)


def _routine(call: Call, work: Compilation) -> Routine | None:
    template = call.template_id
    if "{{wr." in template:
        hint = "write the id of the routine; to let a project choose, name the slot in the prompt of a step instead"
        work.report.error("template-binding", "a template id cannot contain a binding", call.template, hint)
        return None
    name = routine_name(template)
    found = work.routine(name) if name is not None else None
    match found:
        case Routine():
            return found
        case RoutineProblem():
            work.report.error(
                found.code, f"template {quote_name(template)} cannot be used: {found.reason}", call.template
            )
        case None:
            known = template_ids(work.catalog)
            hint = "known templates: " + list_names(known)
            work.report.error("unknown-template", describe_unknown("template", template, known), call.template, hint)
    return None


def _arguments(call: Call, routine: Routine, report: Report) -> dict[str, str]:
    wanted = sorted(
        {name for step in routine.steps for key in ("title", "prompt") for name in PLACE.findall(text(step, key) or "")}
    )
    values = {entry.name: _argument(entry, report) for entry in call.args}
    missing = [name for name in wanted if name not in values]
    for name in missing:
        at = call.holder.entries.get("args") or call.template
        hint = f'add "{shorten(name)}": "..." to its arguments'
        message = f"template {quote_name(call.template_id)} requires the argument {quote_name(name)}"
        report.error("missing-template-arg", message, at, hint)
    for entry in call.args:
        if entry.name not in wanted:
            guess = did_you_mean(entry.name, missing)
            hint = f"its arguments: {list_names(wanted)}" if wanted else "it has no arguments"
            message = f"the template has no argument {quote_name(entry.name)}{guess}"
            report.warning("unused-template-arg", message, entry, hint)
    return values


def _argument(entry: Entry, report: Report) -> str:
    value = entry.value.value if isinstance(entry.value, Scalar) else None
    if value is None:
        message = f"argument {quote_name(entry.name)} must be text, a number, true or false"
        report.error("template-arg-type", message, entry.value)
        return ""
    written = argument_text(value)
    if len(written) > MAX_ARGUMENT_LENGTH:
        found = f"argument {quote_name(entry.name)} has {len(written)} characters"
        message = f"{found}, the maximum is {MAX_ARGUMENT_LENGTH}"
        report.error("bad-value", message, entry.value)
        return ""
    return written


def argument_text(value: str | float | bool) -> str:
    """Format a value for use in a text: numbers without a needless fraction."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return str(value)


def _expand_step(call: Call, routine: Routine, step: Mapping, values: dict[str, str], work: Compilation) -> Mapping:
    at: Span = call.template.span
    new_id = f"{call.caller}.{text(step, 'id')}"
    work.injected[new_id] = Injected(call.template_id, call.caller, f"called by step '{call.caller}'")
    result = set_entry(move_node(step, at), "id", make_scalar(new_id, at))
    for key in ("title", "prompt"):
        filled = PLACE.sub(lambda found: values.get(found[1], found[0]), text(step, key) or "")
        if len(filled) > MAX_PROMPT_LENGTH:
            found = f"step '{new_id}' would have a {key} of {len(filled)} characters"
            message = f"{found}, the maximum is {MAX_PROMPT_LENGTH}"
            work.report.error("bad-value", message, at, "pass shorter arguments")
            filled = ""
        result = set_entry(result, key, make_scalar(filled, at))
    if routine.guidance:
        result = set_entry(result, "guidance", node_of([*texts(step, "guidance"), *routine.guidance], at))
    condition = call.step.get("runCondition")
    if condition is not None and "runCondition" not in step:
        result = set_entry(result, "runCondition", condition)
    return result
