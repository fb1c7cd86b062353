"""Translates Go's durations, and texts with template actions, to values of the format."""

import re
from collections.abc import Callable

from handrail.authoring.importers.coven.go_expressions import Resolver, translate_condition, translate_value
from handrail.authoring.importers.coven.go_syntax import Untranslatable, actions, parse_action
from handrail.language.expressions.unparse import unparse

_DURATION = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")
_NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_SHELL_BRACE = re.compile(r"\$\{(?![A-Z_][A-Z0-9_]*\b)(?!\{)")


def duration(text: str) -> str | None:
    """Convert a Go duration to whole units, such as `1.5h` to `90m`; None if it is not a duration."""
    if not _DURATION.fullmatch(text):
        return None
    total = sum(round(float(number) * _NANOSECONDS[unit]) for number, unit in _PART.findall(text))
    if re.fullmatch(r"(\d+(ms|s|m|h))+", text):
        return text
    milliseconds = max(1, round(total / 10**6))
    for unit, size in (("h", 3_600_000), ("m", 60_000), ("s", 1000)):
        if milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    return f"{milliseconds}ms"


def condition(text: str, names: Resolver) -> str | bool:
    """Translate a condition for `when`: a bare expression, or true or false."""
    if text.strip() in ("true", "false"):
        return text.strip() == "true"
    found = next(actions(text.strip()), None)
    if found is None or (found.start, found.end) != (0, len(text.strip())):
        raise Untranslatable("it is not a single template action")
    return unparse(translate_condition(parse_action(found.inside), names))


def translate_text(text: str, names: Resolver) -> str:
    """Translate a text so that every action becomes a `${...}`."""
    return _translate_actions(text, names, lambda plain: plain)


def command(text: str, names: Resolver) -> str:
    """Translate a shell command so that every action becomes a `${...}`, while the shell's own braces stay its own."""
    return _translate_actions(text, names, lambda plain: _SHELL_BRACE.sub("$${", plain))


def _translate_actions(text: str, names: Resolver, plain: Callable[[str], str]) -> str:
    parts: list[str] = []
    at = 0
    for found in actions(text):
        parts.append(plain(text[at : found.start]))
        parts.append("${" + unparse(translate_value(parse_action(found.inside), names)) + "}")
        at = found.end
    parts.append(plain(text[at:]))
    return "".join(parts)
