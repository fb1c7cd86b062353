"""A workflow as a Mermaid flowchart."""

from handrail.cli.render.graph.flow_graph import Box, flow_graph
from handrail.cli.render.safe_text import escape_controls
from handrail.model.workflow.plan import Plan

_SHAPES = {
    "start": ('(["', '"])'),
    "end": ('(["', '"])'),
    "step": ('["', '"]'),
    "question": ('{"', '"}'),
    "gate": ('{{"', '"}}'),
    "approval": ('[/"', '"/]'),
    "holder": ('[["', '"]]'),
}
_ESCAPED = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;", "|": "#124;", "\\": "#92;"}


def draw_mermaid(plan: Plan, reached: frozenset[str]) -> str:
    """Render the flowchart as Mermaid text."""
    graph = flow_graph(plan, reached)
    lines = ["flowchart TD", *(f"    {_box(each)}" for each in graph.boxes)]
    for each in graph.arrows:
        label = f'|"{escape_label(each.label)}"|' if each.label else ""
        lines.append(f"    {each.start} -->{label} {each.end}")
    lost = [each.id for each in graph.boxes if not each.reached]
    if lost:
        lines += ["    classDef never stroke-dasharray: 4 4,stroke:#d33", f"    class {','.join(lost)} never"]
    return "\n".join(lines)


def _box(box: Box) -> str:
    before, after = _SHAPES[box.shape]
    return f"{box.id}{before}{escape_label(box.label)}{after}"


def escape_label(text: str) -> str:
    """Escape a text for a quoted label."""
    return "".join(_ESCAPED.get(each, each) for each in escape_controls(text))
