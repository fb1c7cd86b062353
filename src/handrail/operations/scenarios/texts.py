"""Compares texts with a test: parts that they must or must not hold, files of the worktree, and the difference."""

from collections.abc import Iterator
from difflib import SequenceMatcher, ndiff
from pathlib import Path

from handrail.model.source import Entry, Mapping, Node, Scalar
from handrail.operations.scenarios.problems import Evidence, Problem, problem
from handrail.operations.scenarios.read import list_items

MAX_LINES = 20
"""The number of lines of a difference that are shown."""
MIN_SIMILARITY = 0.5
"""The share of a part that a line must have to be shown for it."""
MAX_COMPARED = 500
SHORT = 6


def part_problems(what: str, node: Node, *texts: str) -> Iterator[Problem]:
    """Compare texts with parts: each wanted part must be in one of them, and no unwanted part in any."""
    wanted, unwanted = _parts(node)
    many = len(texts) > 1
    for item, part in wanted:
        if not any(part in text for text in texts):
            near = _find_nearest_line(part, "\n".join(texts)) or _shorten("\n".join(texts))
            lacks = (
                f"{what} does not contain this in any of {len(texts)} calls"
                if many
                else f"{what} does not contain this"
            )
            yield problem(lacks, item.span, part, near)
    for item, part in unwanted:
        line = next((line.strip() for text in texts for line in text.split("\n") if part in line), None)
        if line is not None or any(part in text for text in texts):
            yield problem(f"{what} contains what it should not", item.span, f"without: {part}", line or part)


def judge_files(evidence: Evidence, entry: Entry) -> Iterator[Problem]:
    """Compare the files of the worktree with what a test expects."""
    for each in entry.value if isinstance(entry.value, Mapping) else ():
        path = evidence.workspace / each.name
        text = _read(path)
        wanted = each.value.value if isinstance(each.value, Scalar) else None
        if isinstance(each.value, Scalar) and wanted is None:
            if text is not None:
                yield problem(f"the file {each.name} exists but should not", each.key.span)
        elif text is None:
            yield problem(f"the file {each.name} does not exist", each.key.span, happened=_list_folder(path, evidence))
        elif isinstance(each.value, Mapping):
            yield from part_problems(f"the file {each.name}", each.value, text)
        elif text != wanted:
            shown = diff_lines(str(wanted), text)
            yield problem(f"the file {each.name} has different content", each.key.span, difference=shown)


def diff_lines(expected: str, found: str) -> tuple[tuple[str, str], ...]:
    """Return the lines of two texts with their marks, limited to what is readable."""
    lines = ndiff(expected.split("\n"), found.split("\n"))
    marked = [(line[0], line[2:]) for line in lines if line[0] != "?"]
    more = len(marked) - MAX_LINES
    return (*marked[:MAX_LINES], *([(" ", f"... and {more} more lines")] if more > 0 else []))


def _parts(node: Node) -> tuple[list[tuple[Node, str]], list[tuple[Node, str]]]:
    if not isinstance(node, Mapping):
        return _list_texts(node), []
    wanted, unwanted = node.get("contains"), node.get("lacks")
    return ([] if wanted is None else _list_texts(wanted), [] if unwanted is None else _list_texts(unwanted))


def _list_texts(node: Node) -> list[tuple[Node, str]]:
    return [(item, str(item.value)) for item in list_items(node) if isinstance(item, Scalar)]


def _find_nearest_line(part: str, text: str) -> str:
    """Find the line of a text that has most of a part, if one has much of it."""
    first = part.strip().split("\n")[0]
    rated: list[tuple[int, str]] = []
    for line in text.split("\n")[:MAX_COMPARED]:
        matcher = SequenceMatcher(None, first, line, autojunk=False)
        rated.append((matcher.find_longest_match(0, len(first), 0, len(line)).size, line.strip()))
    size, line = max(rated, key=lambda each: each[0], default=(0, ""))
    return line if size >= MIN_SIMILARITY * len(first) else ""


def _shorten(text: str) -> str:
    """Return a text itself if it is short, else its length in lines."""
    lines = text.strip().split("\n")
    if not text.strip():
        return "(nothing)"
    return text.strip() if len(lines) <= SHORT else f"(nothing like it in {len(lines)} lines)"


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return None


def _list_folder(path: Path, evidence: Evidence) -> str:
    """Describe what is in its folder."""
    if not path.parent.is_dir():
        return f"there is no folder {path.parent.relative_to(evidence.workspace)}"
    names = sorted(each.name for each in path.parent.iterdir() if each.name != ".git")
    return f"its folder contains: {', '.join(names[:12]) or 'nothing'}"
