"""Draws a terminal session as an SVG that is readable on light and dark pages."""

from collections.abc import Sequence
from html import escape

LETTER = 7.8
LINE = 20
MARGIN = 18
BAR = 30
STYLE = (
    "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d0d7de;white-space:pre}"
    ".back{fill:#161b22;stroke:#6e7681}.bar{fill:#6e7681}"
    ".command{fill:#ffffff;font-weight:bold}.good{fill:#56d364}.bad{fill:#ff7b72}.person{fill:#e3b341}"
)
MARKS = {"$": "command", "✓": "good", "✗": "bad", "?": "person"}


def draw_session(title: str, lines: Sequence[str]) -> str:
    """Draw the lines of a session; the first character of a line decides its colour."""
    width = round(max(len(line) for line in lines) * LETTER) + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN + BAR
    dots = "".join(f'<circle class="bar" cx="{MARGIN + 4 + 18 * at}" cy="{MARGIN}" r="5"/>' for at in range(3))
    rows = "\n".join(_draw_line(line, MARGIN + BAR + (at + 1) * LINE - 6) for at, line in enumerate(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
        f"<title>{escape(title)}</title><style>{STYLE}</style>\n"
        f'<rect class="back" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="8"/>{dots}\n'
        f"{rows}\n</svg>\n"
    )


def _draw_line(line: str, y: int) -> str:
    """Draw a line whose width does not depend on the font that a reader has."""
    colour = MARKS.get(line[:1])
    marked = f' class="{colour}"' if colour else ""
    length = round(len(line) * LETTER)
    return (
        f'<text{marked} x="{MARGIN}" y="{y}" textLength="{length}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(line, quote=False)}</text>"
    )
