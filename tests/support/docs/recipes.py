"""Reads a page of recipes: each section with its files and its commands."""

import os
import re
from dataclasses import dataclass

from support.docs.commands import Command, commands, fits
from support.docs.pages import ROOT, Block, blocks, text_of
from support.docs.shop import DocShop

UPDATE = "HANDRAIL_UPDATE_DOCS"
"""Set, it writes what commands really print into the pages."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under one heading of the second level."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def name(self) -> str:
        """The heading as a link writes it."""
        return re.sub(r"[^\w\- ]", "", self.title.lower()).replace(" ", "-")

    @property
    def files(self) -> dict[str, str]:
        """The files that it shows, by their paths."""
        return {block.notes["file"]: block.text for block in self.blocks if "file" in block.notes}

    @property
    def workflows(self) -> list[str]:
        """The names of the workflows that it shows."""
        return [path.split("/")[2] for path in self.files if path.startswith(".handrail/workflows/")]


def sections(page: str) -> list[Section]:
    """Give the parts of a page that hold blocks with commands."""
    lines = text_of(page).splitlines()
    starts = [at for at, line in enumerate(lines, 1) if line.startswith("## ")]
    ends = [*starts[1:], len(lines) + 1][: len(starts)]
    found = [
        Section(lines[start - 1].removeprefix("## "), tuple(each for each in blocks(page) if start < each.line < end))
        for start, end in zip(starts, ends, strict=True)
    ]
    return [each for each in found if any(block.language == "console" for block in each.blocks)]


def play(block: Block, shop: DocShop) -> str:
    """Run the commands of a block; give the first that prints other than the page shows, with what it prints."""
    for command in commands(block):
        printed = _printed(command, block.notes.get("interrupt"), shop)
        if _as_shown(command, printed, any_order=block.notes.get("order") == "any"):
            continue
        if UPDATE not in os.environ:
            return f"{block}: $ {command.line}\n{printed}"
        _update(block.page, command, printed)
    return ""


def _printed(command: Command, interrupt: str | None, shop: DocShop) -> str:
    return shop.run(command.line)[1] if interrupt is None else shop.interrupted(command.line, interrupt)


def _as_shown(command: Command, printed: str, *, any_order: bool) -> bool:
    shown, came = _squeezed(command.expected), _squeezed(printed)
    if any_order:
        rows = [line for line in shown.splitlines() if line != "..."]
        return sorted(rows) == sorted(line for line in came.splitlines() if "worktree ready" not in line)
    return bool(shown.strip()) == bool(came.strip()) and fits(shown, came)


def _squeezed(text: str) -> str:
    """The width of a column follows from times, which differ from run to run."""
    return re.sub(r"(?<=\S) {2,}", "  ", text)


def _update(page: str, command: Command, printed: str) -> None:
    """Write what a command printed into the page; where a worktree is says nothing, and is left out."""
    path = ROOT / page
    shown = "".join("...\n" if "worktree ready" in line else f"{line}\n" for line in printed.splitlines())
    before = f"$ {command.line}\n{command.expected}"
    path.write_text(path.read_text("utf-8").replace(before, f"$ {command.line}\n{shown}", 1), "utf-8")
