"""Prints how the code and the texts read, with the limits: `python -m support.style.report [--all]`.

The exit code is 1 where a limit is exceeded. Without --all, the places of each measure are cut after a few.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from support.places import ROOT
from support.style.names import (
    Share,
    count_comments,
    measure_classes,
    measure_docstrings,
    measure_functions,
    measure_modules,
)
from support.style.single_calls import measure_single_calls
from support.style.wording import find_wordings

PARTICIPLES, GERUNDS, GIVES = 3.0, 1.0, 3.0
"""The most, in percent."""
SHOWN = 5
TEXTS = {".py", ".md", ".json", ".yaml", ".toml", ".txt", ".sql"}
PAGES = ("README.md", "ARCHITECTURE.md", "AGENTS.md", "docs", "src")
"""What is searched for wordings; the built-in workflows and prompts are in `src`."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of the report; without a limit it is printed and not judged."""

    what: str
    now: str
    limit: str
    is_held: bool
    places: tuple[str, ...] = ()


def measure_sources(sources: dict[str, str]) -> list[Measure]:
    """Measure names, docstrings and comments of Python files, by path."""
    return [
        _limit("functions that begin with a participle", measure_functions(sources), PARTICIPLES),
        _limit("classes that are named by a participle alone", measure_classes(sources), PARTICIPLES),
        _limit("modules that are gerunds", measure_modules(list(sources)), GERUNDS),
        _limit('docstrings that begin with "Give"', measure_docstrings(sources), GIVES),
        Measure("comments per 100 lines", f"{count_comments(sources):.1f}", "", is_held=True),
        _print("short private functions that are called once", measure_single_calls(sources)),
    ]


def measure_wordings(texts: dict[str, str]) -> Measure:
    """Count the wordings that should not occur, in texts by path."""
    hits = tuple(str(each) for path, text in texts.items() for each in find_wordings(path, text))
    return Measure("wordings that are not used", str(len(hits)), "0", is_held=not hits, places=hits)


def format_report(measures: Iterable[Measure], shown: int | None = SHOWN) -> str:
    """Format a table of the measures, then the places of those that exceed their limit."""
    measures = list(measures)
    rows = [("what", "now", "limit", ""), *((m.what, m.now, m.limit, "" if m.is_held else "✗") for m in measures)]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    lines = [
        "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3])) for row in rows
    ]
    for each in measures:
        if not each.is_held:
            lines += ["", f"{each.what}:", *(f"  {place}" for place in each.places[:shown])]
            left = len(each.places) - len(each.places[:shown])
            lines += [f"  and {left} more (--all shows them)"] if left else []
    return "\n".join(line.rstrip() for line in lines)


def read_texts(names: Iterable[str], endings: set[str]) -> dict[str, str]:
    """Read the files of the repository below some places, by path."""
    tops = [ROOT / name for name in names]
    paths = [path for top in tops for path in ([top] if top.is_file() else sorted(top.rglob("*")))]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths if path.suffix in endings}


def main(arguments: list[str]) -> int:
    """Print the report; the exit code tells whether all limits hold."""
    sources = {str(Path(path).relative_to("src")): text for path, text in read_texts(["src"], {".py"}).items()}
    measures = [*measure_sources(sources), measure_wordings(read_texts(PAGES, TEXTS))]
    sys.stdout.write(format_report(measures, None if "--all" in arguments else SHOWN) + "\n")
    return 0 if all(each.is_held for each in measures) else 1


def _limit(what: str, share: Share, limit: float) -> Measure:
    return Measure(what, _format(share), f"{limit:g} %", is_held=share.percent <= limit, places=share.hits)


def _print(what: str, share: Share) -> Measure:
    return Measure(what, _format(share), "", is_held=True, places=share.hits)


def _format(share: Share) -> str:
    return f"{share.percent:.1f} % ({len(share.hits)} of {share.total})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
