"""Finds private functions that are called once and are so short that their body could stand at the call."""

import ast
from collections import Counter

from support.style.names import Share

MAX_LINES = 3
"""The most lines of a body that count as short, without the docstring."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def measure_single_calls(sources: dict[str, str]) -> Share:
    """Count the short private functions with one call in their file and no other use, among all private functions."""
    total, hits = 0, list[str]()
    for path, text in sources.items():
        tree = ast.parse(text)
        private = [each for each in ast.walk(tree) if isinstance(each, _Function) and _is_private(each.name)]
        total += len(private)
        uses, calls = _count_uses(tree)
        for each in private:
            if uses[each.name] == calls[each.name] == 1 and not each.decorator_list and _count_lines(each) <= MAX_LINES:
                hits.append(f"{path}:{each.lineno} {each.name}")
    return Share(tuple(hits), total)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _count_uses(tree: ast.Module) -> tuple[Counter[str], Counter[str]]:
    """Count how often each name is used, and how often that use is a call of it."""
    uses, calls = Counter[str](), Counter[str]()
    for each in ast.walk(tree):
        uses.update(_read_name(each))
        if isinstance(each, ast.Call):
            calls.update(_read_name(each.func))
    return uses, calls


def _read_name(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    return [node.attr] if isinstance(node, ast.Attribute) else []


def _count_lines(function: _Function) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
