"""A topic's page as text: headings, prose, lists, tables and blocks of code, wrapped to the width of the terminal.

Supports the small part of Markdown that the pages use. Code is never wrapped: whoever copies it needs it whole.
"""

from collections.abc import Iterator
from itertools import groupby

import click

from handrail.cli.render.layout import wrap_text

FENCE = "```"
INDENT = "  "


def render_page(text: str, columns: int) -> str:
    """Render a page that fits into `columns` columns."""
    blocks = [_render_block(kind, lines, columns) for kind, lines in _blocks(text)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Split a page into blocks, each with its kind."""
    lines, fenced = text.splitlines(), False
    marked: list[tuple[int, str]] = []
    number = 0
    for line in lines:
        if line.startswith(FENCE):
            fenced, number = not fenced, number + 1
        elif not line.strip() and not fenced:
            number += 1
        else:
            marked.append((number, f"{FENCE}{line}" if fenced else line))
    for _, block in groupby(marked, key=lambda pair: pair[0]):
        found = [line for _, line in block]
        yield _kind(found[0]), found


def _kind(line: str) -> str:
    kinds = {FENCE: "code", "#": "heading", "|": "table", "- ": "list"}
    return next((kind for start, kind in kinds.items() if line.startswith(start)), "prose")


def _render_block(kind: str, lines: list[str], columns: int) -> str:
    match kind:
        case "heading":
            return lines[0].lstrip("# ").upper()
        case "code":
            return "\n".join(f"{INDENT * 2}{line.removeprefix(FENCE)}".rstrip() for line in lines)
        case "table":
            return _table(lines, columns)
        case "list":
            return "\n".join(_list(lines, columns))
        case _:
            return "\n".join(wrap_text(" ".join(lines), columns, first=INDENT, later=INDENT))


def _table(lines: list[str], columns: int) -> str:
    """Render a table of two columns without its head, which says nothing that the page does not say."""
    rows = [[cell.strip() for cell in line.strip("|").split("|", 1)] for line in lines[2:]]
    formatter = click.HelpFormatter(width=columns)
    formatter.indent()
    formatter.write_dl([(first.strip("`"), second) for first, second in rows], col_max=min(30, columns // 2 - 4))
    return formatter.getvalue().rstrip("\n")


def _list(lines: list[str], columns: int) -> Iterator[str]:
    items: list[str] = []
    for line in lines:
        if line.startswith("- "):
            items.append(line.removeprefix("- "))
        else:
            items[-1] += f" {line.strip()}"
    for item in items:
        yield from wrap_text(item, columns, first=f"{INDENT}- ", later=INDENT * 2)
