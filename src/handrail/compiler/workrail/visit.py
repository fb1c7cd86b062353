"""Walks the steps of a workflow's tree, including loop bodies, and their prompts."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from handrail.compiler.workrail.tree import change_texts, mapping, mappings, set_entry
from handrail.model.source import Document, Mapping, Node, Scalar, Sequence

NESTED_PROMPTS = ("audit", "verification", "synthesis")
"""Parts of a step that contain a prompt of their own."""


def rewrite(document: Document, change: Callable[[Mapping], tuple[Mapping, ...]]) -> Document:
    """Replace each step with what a function returns for it; loops stay in place, with their bodies changed."""
    return replace(document, root=_rewrite_under(document.root, "steps", change))


def _rewrite_under(node: Mapping, key: str, change: Callable[[Mapping], tuple[Mapping, ...]]) -> Mapping:
    steps = node.get(key)
    if not isinstance(steps, Sequence):
        return node
    found: list[Node] = []
    for step in steps.items:
        if isinstance(step, Mapping):
            found.extend(change(_rewrite_under(step, "body", change)))
    return set_entry(node, key, replace(steps, items=tuple(found)))


def walk_steps(node: Mapping, key: str = "steps") -> Iterator[Mapping]:
    """Iterate over all steps, each loop before the steps of its body."""
    for step in mappings(node, key):
        yield step
        yield from walk_steps(step, "body")


def change_prompts(step: Mapping, change: Callable[[Scalar], Scalar]) -> Mapping:
    """Return a step with all of its prompt texts changed."""
    for key in ("prompt", "promptBlocks"):
        found = step.get(key)
        if found is not None:
            step = set_entry(step, key, change_texts(found, change, skip="refId"))
    for key in NESTED_PROMPTS:
        inner = mapping(step, key)
        prompt = inner.get("prompt") if inner is not None else None
        if inner is not None and prompt is not None:
            step = set_entry(step, key, set_entry(inner, "prompt", change_texts(prompt, change)))
    return step


def prompts(step: Mapping) -> Iterator[Scalar]:
    """Iterate over the prompts of a step whose blocks have been rendered."""
    for holder in (step, *(mapping(step, key) for key in NESTED_PROMPTS)):
        prompt = holder.get("prompt") if holder is not None else None
        if isinstance(prompt, Scalar):
            yield prompt
