"""The only module that uses PyYAML: the events of a text, and its errors as one exception."""

from collections.abc import Iterator
from typing import Protocol, cast


class Mark(Protocol):
    """A position in the text, counted in code points."""

    index: int


class Event(Protocol):
    """The parser's next event; an attribute exists only on the kinds of events that it belongs to."""

    start_mark: Mark
    end_mark: Mark
    anchor: str | None
    tag: str | None
    value: str
    style: str | None
    flow_style: bool


class YamlSyntaxError(Exception):
    """The text is not YAML: the parser's own message with offsets, None where it gave none."""

    def __init__(self, problem: str, at: int | None = None, context: str = "", context_at: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.at = at
        self.context = context
        self.context_at = context_at


def events(text: str, *, pure: bool = False) -> Iterator[Event]:
    """Iterate over the parser's events; `pure` selects the slow parser without libyaml."""
    # Importing yaml takes as long as reading a whole workflow, and JSON files do not need it.
    import yaml  # noqa: PLC0415

    fast = None if pure else getattr(yaml, "CSafeLoader", None)
    parse = cast("_Parse", yaml.parse)  # pyright: ignore[reportUnknownMemberType] (the stubs leave it untyped)
    try:
        yield from parse(text, Loader=fast or yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        problem, context = error.problem or "", error.context or ""
        raise YamlSyntaxError(problem, _index(error.problem_mark), context, _index(error.context_mark)) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # The slow parser passes some invalid escapes and version numbers on to chr() and int().
        raise YamlSyntaxError(str(error)) from None


class _Parse(Protocol):
    def __call__(self, stream: str, Loader: object) -> Iterator[Event]: ...  # noqa: N803


def _index(mark: Mark | None) -> int | None:
    return mark.index if mark is not None else None
