"""Maps a position inside a scalar's value back to the position in the file where it was written."""

from functools import lru_cache

from handrail.authoring.readers.scalar_positions import (
    DOUBLE,
    JSON,
    PLAIN,
    SINGLE,
    CharacterPositions,
    trace_block,
    trace_flow,
)
from handrail.model.source import Scalar, Span

_QUOTED = {"single": SINGLE, "double": DOUBLE, "json": JSON}


def span_at(scalar: Scalar, start: int, end: int) -> Span:
    """Return the span of the file that holds `value[start:end]`, or the whole scalar where no exact map exists."""
    value, span = scalar.value, scalar.span
    if not isinstance(value, str) or scalar.style == "made":
        return span
    start = max(0, min(start, len(value)))
    end = max(start, min(end, len(value)))
    margin = 1 if scalar.style in _QUOTED else 0
    if span.end - span.start - 2 * margin == len(value) and span.source.text.startswith(value, span.start + margin):
        return Span(span.source, span.start + margin + start, span.start + margin + end)
    trace = _trace(scalar)
    return _map_span(trace, span, start, end) if trace is not None else span


def _map_span(trace: CharacterPositions, span: Span, start: int, end: int) -> Span:
    after = trace.ends[-1] if trace.ends else span.start
    first = trace.starts[start] if start < len(trace.starts) else after
    return Span(span.source, first, trace.ends[end - 1] if end > start else first)


@lru_cache(maxsize=4)
def _trace(scalar: Scalar) -> CharacterPositions | None:
    """Trace a scalar once for all positions in it; None if the trace does not reproduce its value."""
    value, (source, start, end) = str(scalar.value), scalar.span
    if scalar.style in {"literal", "folded"}:
        trace = trace_block(source.text, start, end, value)
        # The remainder must consist of the line breaks that chomping removed.
        is_exact = trace.text.startswith(value) and not trace.text[len(value) :].strip("\n\u2028\u2029")
        return trace if is_exact else None
    if scalar.style == "plain":
        trace = trace_flow(PLAIN, source.text, start, end)
    else:
        trace = trace_flow(_QUOTED[scalar.style], source.text, start + 1, end - 1)
    return trace if trace.text == value else None
