"""The timeline of the demo: one line per step, with a bar for its place in time."""

from collections.abc import Iterable, Sequence

from handrail.cli.demo.record import TimelineBar
from handrail.cli.render.safe_text import crop, pad
from handrail.operations.views.money import duration

COLUMNS = 24
"""The width of the bars."""


def render_timeline(steps: Sequence[TimelineBar], moments: Iterable[tuple[float, str]]) -> list[str]:
    """Render the steps as lines, with the other moments between them."""
    begins = min(bar.began for bar in steps)
    scale = COLUMNS / max(0.001, max(bar.ended for bar in steps) - begins)
    lines = [(bar.began, _line(bar, begins, scale)) for bar in steps]
    lines += [(at, _moment(at - begins, words, scale)) for at, words in moments]
    return [line for _, line in sorted(lines, key=lambda each: each[0])]


def _line(bar: TimelineBar, begins: float, scale: float) -> str:
    at = min(COLUMNS - 1, int((bar.began - begins) * scale))
    long = max(1, min(COLUMNS - at, round((bar.ended - bar.began) * scale)))
    mark = "✓" if bar.ok else "✗"
    start, took = duration(bar.began - begins), duration(bar.ended - bar.began)
    drawn = " " * at + "━" * long
    return f"{mark} {start:>5}  {pad(crop(bar.address, 23), 24)}{drawn:<{COLUMNS}} {bar.who:<9}{took:>5} {bar.cost:>5}"


def _moment(at: float, words: str, scale: float) -> str:
    place = max(0, min(COLUMNS - 1, int(at * scale)))
    return f"  {duration(at):>5}  {words:<24}{' ' * place}╳"
