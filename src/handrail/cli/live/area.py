"""The lower end of a terminal: lines that scroll by, and below them a few lines that are redrawn again and again.

1. The cursor stays at the beginning of the line below and is never hidden: whenever the process dies, the shell's
   prompt appears where it should.
2. A line is never as wide as the terminal, so that none wraps.
3. While a person is asked, nothing moves: new lines are written after the answer.
"""

import errno
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TextIO

import click

from handrail.cli.render.safe_text import width


def terminal_columns() -> int:
    """Return how many columns a line may take on this terminal."""
    return max(1, shutil.get_terminal_size().columns - 1)


class Writer(Protocol):
    """Writes what happens in a run to the output."""

    @property
    def columns(self) -> int:
        """The number of columns that a line may take."""
        ...

    def say(self, line: str) -> None:
        """Write a line that stays."""
        ...

    def draw(self, rows: Sequence[str]) -> None:
        """Show lines that stay until the next ones are drawn."""
        ...

    def ask(self, lines: Sequence[str], prompt: str) -> None:
        """Write a question to a person, and hold back everything else."""
        ...

    def close_question(self, note: str | None = None) -> None:
        """Continue after the answer; a note says why there was none."""
        ...

    def note_typed_line(self) -> None:
        """Correct for a line that was typed although nobody was asked."""
        ...


@dataclass(slots=True)
class LiveArea:
    """A `Writer` for a terminal that can move its cursor."""

    out: TextIO
    color: bool = True
    _rows: tuple[str, ...] = ()
    _extra: int = 0
    _held: list[str] | None = None

    @property
    def columns(self) -> int:
        """One less than the terminal has."""
        return terminal_columns()

    def say(self, line: str) -> None:
        """Write a line above the live ones."""
        if self._held is not None:
            self._held.append(line)
            return
        self._write(f"{self._back()}{self._style_line(line)}\x1b[K\n{self._render_rows()}\x1b[J")

    def draw(self, rows: Sequence[str]) -> None:
        """Draw the live lines over the previous ones."""
        height = max(1, shutil.get_terminal_size().lines - 2)
        new = tuple(rows)[-height:]
        if self._held is not None or (new == self._rows and not self._extra):
            return
        back = self._back()
        self._rows = new
        self._write(f"{back}{self._render_rows()}\x1b[J")

    def ask(self, lines: Sequence[str], prompt: str) -> None:
        """Replace the live lines with a question."""
        self.draw(())
        self._held = self._held or []
        self._write("\r" + "".join(f"{self._style_line(line)}\x1b[K\n" for line in lines) + prompt)

    def close_question(self, note: str | None = None) -> None:
        """Write what was held back."""
        held, self._held = self._held or [], None
        self._extra = 0
        if note is not None:
            self._write("\n")
        for line in held if note is None else [note, *held]:
            self.say(line)

    def note_typed_line(self) -> None:
        """Count the line by which the Enter key moved the cursor down."""
        self._extra += 1

    def _back(self) -> str:
        """Return to the first live line; a line that a narrower window has wrapped takes several."""
        size = shutil.get_terminal_size()
        taken = sum(max(1, -(-width(click.unstyle(row)) // size.columns)) for row in self._rows) + self._extra
        self._extra = 0
        taken = min(taken, size.lines - 1)
        return f"\r\x1b[{taken}A" if taken else "\r"

    def _render_rows(self) -> str:
        return "".join(f"{self._style_line(row)}\x1b[K\n" for row in self._rows)

    def _style_line(self, line: str) -> str:
        return line if self.color else click.unstyle(line)

    def _write(self, text: str) -> None:
        try:
            self.out.write(text)
            self.out.flush()
        except OSError as error:
            # The window has just been closed: the signal that reports it is about to arrive, and decides what to do.
            if error.errno != errno.EIO:
                raise


@dataclass(slots=True)
class PlainLines:
    """A `Writer` for pipes and for terminals that cannot move the cursor; questions go to stderr."""

    err: bool
    columns: int
    _held: list[str] | None = field(default=None)

    def say(self, line: str) -> None:
        """Write a line, or hold it back until somebody who is asked has answered."""
        if self._held is None:
            click.echo(line, err=self.err)
        else:
            self._held.append(line)

    def draw(self, rows: Sequence[str]) -> None:
        """Draw nothing: a line that was written cannot be replaced."""

    def ask(self, lines: Sequence[str], prompt: str) -> None:
        """Write a question to a person."""
        self._held = self._held or []
        for line in lines:
            click.echo(line, err=True)
        click.echo(prompt, err=True, nl=False)

    def close_question(self, note: str | None = None) -> None:
        """Write what was held back."""
        held, self._held = self._held or [], None
        if note is not None:
            click.echo(f"\n{note}", err=True)
        for line in held:
            self.say(line)

    def note_typed_line(self) -> None:
        """Do nothing: nothing was drawn that could be out of place."""
