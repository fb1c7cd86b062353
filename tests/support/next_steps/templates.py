"""Every next step that the source can print: texts that name a command to type, collected from the syntax tree.

A template is the text with `{}` for each value that the product fills in. The same text in two places is one template.
Docstrings, help and the names under which processes hold a lease are not printed as next steps.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import handrail
from handrail.cli.command_table import ISSUES, RUNS, WORKFLOWS

SOURCE = Path(handrail.__file__).parent
_VALUES = r"\{\}|full_auto_\w+|aggressive|user|open|commands|run(?=\.)|\.handrail/[\w.]+|[a-z]+-\d+|\d+|>|\.(?=\s|$)"
_WORD = rf"""(?:{_VALUES}|--?[a-z][a-z-]*|"[^"]*"|'[^']*'|[A-Z][A-Z|_]*)"""
_OF_ISSUES = (f"issues {name}{' remove' * (name == 'dep')}" for name in ISSUES)
_NAMES = "|".join(sorted((*RUNS, *WORKFLOWS, *_OF_ISSUES), key=len, reverse=True))
COMMAND = re.compile(rf"(?:[A-Z_]+=(?:\{{\}}|[A-Z_]+) )?handrail (?:\{{\}}|(?:{_NAMES})\b)(?: {_WORD}|\{{\}})*")
"""A command in a template, up to the first word that is neither an option, a value nor a placeholder."""
_NAMES_OF_PROCESSES = ("watch", "acquire", "RunClaim", "command", "show_command", "option", "_counts", "_refuse")


@cache
def collect_templates() -> dict[str, tuple[str, ...]]:
    """Find each template of the source, with the places in which it stands."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for line, text in _texts(ast.parse(path.read_text("utf-8"))):
            if COMMAND.search(text):
                found[text] = (*found.get(text, ()), f"{path.relative_to(SOURCE)}:{line}")
    return found


def list_commands(template: str) -> tuple[str, ...]:
    """List the commands that a template tells to type."""
    return tuple(match.group() for match in COMMAND.finditer(template))


def find_printed(template: str, said: str) -> tuple[str, ...] | None:
    """Find a template in what was printed, on however many lines, and give its commands as they stand there."""
    pattern, end = "", 0
    for match in COMMAND.finditer(template):
        pattern += f"{_pattern(template[end : match.start()], r'.*?')}({_pattern(match.group(), _TYPED)})"
        end = match.end()
    found = re.search(pattern + _pattern(template[end:], r".*?"), said, re.DOTALL)
    return None if found is None else tuple(" ".join(each.split()) for each in found.groups())


_TYPED = r"""(?:'[^']*'|"[^"]*"|[^\s'"]*[^\s'",;:)])"""


def _pattern(text: str, value: str) -> str:
    """Give the expression for a piece of a template, with an expression for each value in it."""
    # In a command, a value that follows something without a space is one that may be left out, with its space.
    pieces = re.split(r"(?<=[\w}])(\{\})|(\{\})|(\s+)", text)
    filled = {"{}": value}
    out = ""
    for at, piece in enumerate(pieces):
        if not piece:
            continue
        if at % 4 == 1 and value == _TYPED:
            out += rf"(?:\s+{value})?"
        else:
            out += filled.get(piece, r"\s+" if piece.isspace() else re.escape(piece))
    return out


def _texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    left_out = {id(node) for each in ast.walk(tree) for node in _not_printed(each)}
    for node in ast.walk(tree):
        if id(node) not in left_out and isinstance(node, (ast.Constant, ast.JoinedStr)):
            text = _text(node).strip()
            yield node.lineno, re.sub(r"^[Nn]ext: ", "", text)


def _not_printed(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    if isinstance(node, ast.JoinedStr):
        yield from (each for each in ast.walk(node) if each is not node)
    if isinstance(node, ast.Call) and _name(node.func) in _NAMES_OF_PROCESSES:
        yield from (each for value in (*node.args, *(word.value for word in node.keywords)) for each in ast.walk(value))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _text(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(_text(each) if isinstance(each, ast.Constant) else "{}" for each in node.values)
