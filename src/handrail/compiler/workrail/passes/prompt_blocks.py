"""Fifth pass: renders prompt blocks to a prompt, always in the same order and form."""

from collections.abc import Iterable, Iterator

from handrail.compiler.workrail.passes_state import Compilation
from handrail.compiler.workrail.tree import items, make_scalar, mapping, remove_keys, set_entry, text
from handrail.compiler.workrail.visit import rewrite
from handrail.model.source import Document, Mapping, Node, Scalar, Sequence


def render_prompt_blocks(document: Document, work: Compilation) -> Document:
    """Replace each step's prompt blocks with a plain prompt."""
    return rewrite(document, lambda step: (_render_step(step, work),))


def _render_step(step: Mapping, work: Compilation) -> Mapping:
    blocks = mapping(step, "promptBlocks")
    if blocks is None:
        _refuse_blank(step, work)
        return step
    prompt = render_blocks(blocks)
    if not prompt:
        hint = "write at least a goal, or use 'prompt'"
        message = f"the prompt blocks of step '{text(step, 'id')}' are empty"
        work.report.error("empty-prompt", message, step.entries["promptBlocks"], hint)
    return set_entry(
        remove_keys(step, "promptBlocks"), "prompt", make_scalar(prompt, step.entries["promptBlocks"].key.span)
    )


def render_blocks(blocks: Mapping) -> str:
    """Render prompt blocks, each with its heading."""
    return "\n\n".join(_sections(blocks))


def _refuse_blank(step: Mapping, work: Compilation) -> None:
    """Report a blank prompt, except where a template left it empty, which was reported at its call."""
    prompt = step.get("prompt")
    if isinstance(prompt, Scalar) and prompt.style != "made" and not str(prompt.value).strip():
        message = f"the prompt of step '{text(step, 'id')}' is empty"
        work.report.error("empty-prompt", message, prompt, "write what the agent must do")


def _sections(blocks: Mapping) -> Iterator[str]:
    goal = blocks.get("goal")
    if goal is not None:
        yield f"## Goal\n{_value(goal)}"
    yield from _section("Constraints", (f"- {_value(item)}" for item in items(blocks, "constraints")))
    numbered = enumerate(items(blocks, "procedure"), start=1)
    yield from _section("Procedure", (f"{number}. {_value(item)}" for number, item in numbered))
    outputs = mapping(blocks, "outputRequired") or ()
    yield from _section("Output Required", (f"- **{entry.name}**: {_value(entry.value)}" for entry in outputs))
    yield from _section("Verify", (f"- {_value(item)}" for item in items(blocks, "verify")))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    body = "\n".join(lines)
    if body:
        yield f"## {title}\n{body}"


def _value(node: Node) -> str:
    if isinstance(node, Sequence):
        return "".join(text(part, "text") or "" for part in node.items if isinstance(part, Mapping))
    return str(node.value) if isinstance(node, Scalar) else ""
