"""The output of the demo: headings, commands, and what the commands really print."""

import os
import textwrap
import time
from dataclasses import dataclass, field

import click

from handrail.cli.render.safe_text import escape_controls, width

WIDTH = 80
MARKS = {"✓": "green", "✗": "red", "?": "yellow", "▸": "cyan"}
PAUSE = 0.6
"""Seconds for a person to read a heading."""


@dataclass(slots=True)
class Screen:
    """Writes lines of at most 80 columns; longer words, such as paths, are not broken."""

    err: bool
    """Whether stdout is reserved for a JSON document."""
    pause: float
    count: int = 0
    plain: bool = field(default_factory=lambda: os.environ.get("TERM") == "dumb")

    def show_heading(self, text: str, *, read: bool = True) -> None:
        """Announce what comes next, and pause so that it can be read if more than text follows."""
        self.count += 1
        self._write(f"\n{self._style(f'{self.count}. {text}', bold=True)}")
        time.sleep(self.pause if read else 0)

    def show_command(self, text: str) -> None:
        """Show a command as it would be typed."""
        self._write(f"{self._style('$', fg='cyan')} {text}")

    def show_output(self, line: str) -> None:
        """Show a line that a command printed."""
        text = escape_controls(line.rstrip())
        rows = _wrap_line(text)
        mark = text[:1]
        if mark in MARKS:
            rows[0] = self._style(mark, fg=MARKS[mark]) + rows[0][1:]
        for row in rows:
            self._write(f"  {row}")

    def say(self, text: str = "") -> None:
        """Write a line of the demo itself."""
        self._write(text)

    def _style(self, text: str, *, fg: str | None = None, bold: bool | None = None) -> str:
        return text if self.plain else click.style(text, fg=fg, bold=bold)

    def _write(self, line: str) -> None:
        click.echo(line, err=self.err)


def _wrap_line(text: str) -> list[str]:
    """Wrap a line that is too long; lines that fit are left alone, so that their columns stay aligned."""
    if width(text) <= WIDTH - 2:
        return [text]
    return textwrap.wrap(text, WIDTH - 2, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
