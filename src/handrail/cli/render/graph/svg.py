"""A workflow as an SVG picture: boxes from top to bottom, arrows at their sides; readable in light and dark mode."""

from collections.abc import Iterator
from xml.sax.saxutils import escape

from handrail.cli.render.graph.flow_graph import Arrow, Box, FlowGraph, flow_graph
from handrail.cli.render.safe_text import escape_controls, width
from handrail.model.workflow.plan import Plan

ROW, HEIGHT, INDENT, LEFT, LETTER = 56, 32, 28, 140, 7.4
_STYLE = (
    "text{font:13px ui-monospace,monospace;fill:#222}.box{fill:#f6f6f6;stroke:#555}.arrow{fill:none;stroke:#777}"
    ".label{font-size:11px;fill:#555}.never{stroke:#d33;stroke-dasharray:4 4}"
    "@media(prefers-color-scheme:dark){text{fill:#eee}.box{fill:#2b2b2b;stroke:#aaa}.arrow{stroke:#999}.label{fill:#bbb}}"
)
_TIP = (
    '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
    '<path d="M0,0L8,4L0,8" class="arrow"/></marker></defs>'
)


def draw_svg(plan: Plan, reached: frozenset[str]) -> str:
    """Render the picture as XML."""
    graph = flow_graph(plan, reached)
    rows = {box.id: number for number, box in enumerate(graph.boxes)}
    wide = max(_x(box) + _box_width(box) for box in graph.boxes) + LEFT
    high = ROW * len(graph.boxes) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high}" viewBox="0 0 {wide:.0f} {high}">',
        f"<title>{_text(plan.name)}</title><style>{_STYLE}</style>",
        _TIP,
        *_arrows(graph, rows),
        *(_draw_box(box, rows[box.id]) for box in graph.boxes),
        "</svg>",
    ]
    return "\n".join(parts)


def _text(text: str) -> str:
    return escape(escape_controls(text))


def _x(box: Box) -> float:
    return LEFT + INDENT * box.depth


def _box_width(box: Box) -> float:
    return width(escape_controls(box.label)) * LETTER + 28


def _draw_box(box: Box, row: int) -> str:
    x, y, wide = _x(box), ROW * row + 10, _box_width(box)
    kind = "box" if box.reached else "box never"
    outline = _outline(box, x, y, wide).replace("CLASS", kind)
    return f'{outline}<text x="{x + 14:.0f}" y="{y + 21}">{_text(box.label)}</text>'


def _outline(box: Box, x: float, y: float, wide: float) -> str:
    if box.shape in ("question", "gate", "approval"):
        cut = 10 if box.shape != "approval" else 4
        points = f"{x},{y + HEIGHT / 2} {x + cut},{y} {x + wide - cut},{y} {x + wide},{y + HEIGHT / 2}"
        points += f" {x + wide - cut},{y + HEIGHT} {x + cut},{y + HEIGHT}"
        return f'<polygon class="CLASS" points="{points}"/>'
    round_ = HEIGHT / 2 if box.shape in ("start", "end") else 4
    double = ' stroke-width="2.5"' if box.shape == "holder" else ""
    return f'<rect class="CLASS" x="{x:.0f}" y="{y}" width="{wide:.0f}" height="{HEIGHT}" rx="{round_}"{double}/>'


def _arrows(graph: FlowGraph, rows: dict[str, int]) -> Iterator[str]:
    boxes = {box.id: box for box in graph.boxes}
    for number, arrow in enumerate(graph.arrows):
        yield _arrow(arrow, boxes, rows, 18 + number % 5 * 18)


def _arrow(arrow: Arrow, boxes: dict[str, Box], rows: dict[str, int], out: int) -> str:
    one, other = boxes[arrow.start], boxes[arrow.end]
    top, bottom = ROW * rows[one.id] + 10, ROW * rows[other.id] + 10
    if rows[other.id] == rows[one.id] + 1:
        x1, x2 = _x(one) + 30, _x(other) + 30
        line = f"M{x1:.0f},{top + HEIGHT}L{x2:.0f},{bottom}"
        at = f'x="{x2 + 6:.0f}" y="{bottom - 8}"'
    elif rows[other.id] < rows[one.id]:
        x = min(_x(one), _x(other)) - out
        line = f"M{_x(one):.0f},{top + 16}H{x:.0f}V{bottom + 16}H{_x(other):.0f}"
        at = f'x="{x - 4:.0f}" y="{(top + bottom) / 2 + 16:.0f}" text-anchor="end"'
    else:
        x = max(_x(one) + _box_width(one), _x(other) + _box_width(other)) + out
        line = f"M{_x(one) + _box_width(one):.0f},{top + 16}H{x:.0f}V{bottom + 16}H{_x(other) + _box_width(other):.0f}"
        at = f'x="{x + 4:.0f}" y="{(top + bottom) / 2 + 16:.0f}"'
    label = f'<text class="label" {at}>{_text(arrow.label)}</text>' if arrow.label else ""
    return f'<path class="arrow" marker-end="url(#tip)" d="{line}"/>{label}'
