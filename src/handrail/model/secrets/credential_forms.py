"""Forms of credentials that are recognized by their look, and a search for all of them at once.

A pattern is compiled when the literal that belongs to it is found: most processes never find one. In large data,
searching for each literal costs more than anything else: there, one gate, compiled once, precedes several patterns.
"""

import re
from collections.abc import Iterator
from functools import cache, cached_property

from handrail.frozen import frozen

LARGE = 32 << 10
"""Bytes from which on it pays to compile the gates."""
_FREQUENT = b'etaosnri":,lcdupmhg0123456789{}fwybv[]_'
"""The characters that events consist of, the most frequent first."""


@frozen
class Form:
    """One kind of credential. The first group of a match is hidden, or all of it if there is no group."""

    kind: str
    hints: tuple[bytes, ...]
    """Every match contains one of these: a fast search for them saves the slow one."""
    pattern: bytes
    gate: bytes = b""
    """A short pattern that finds something in every match, for many forms at once; empty if a hint is as fast."""


class CredentialForms:
    """Many forms, of which the first that matches counts."""

    def __init__(self, forms: tuple[Form, ...]) -> None:
        self._forms = forms

    def __iter__(self) -> Iterator[Form]:
        """Iterate over the forms, in order."""
        return iter(self._forms)

    def can_match(self, data: bytes) -> bool:
        """Whether data may contain a form: hardly any recorded event does, and this is the cheapest no."""
        return len(data) >= LARGE or self._hint_pattern.search(data) is not None

    def candidates(self, data: bytes) -> Iterator[Form]:
        """Yield the forms that data may contain."""
        if len(data) < LARGE:
            held = self._forms if self.can_match(data) else ()
            return (form for form in held if any(hint in data for hint in form.hints))
        gates = {gate for gate in self._gates if compile_pattern(gate).search(data)}
        return (
            form
            for form in self._forms
            if (form.gate in gates if form.gate else any(hint in data for hint in form.hints))
        )

    @cached_property
    def _gates(self) -> frozenset[bytes]:
        return frozenset(form.gate for form in self._forms if form.gate)

    @cached_property
    def _hint_pattern(self) -> "re.Pattern[bytes]":
        """Finds any hint by its rarest letter: searching for the first letter of each would stop at every word."""
        by_letter: dict[bytes, list[bytes]] = {}
        for hint in sorted({hint for form in self._forms for hint in form.hints}):
            at = max(range(len(hint)), key=lambda place: (_rarity(hint[place]), -place))
            around = rb"(?<=%s)%s" % (re.escape(hint[: at + 1]), re.escape(hint[at + 1 :]))
            by_letter.setdefault(re.escape(hint[at : at + 1]), []).append(around)
        return re.compile(b"|".join(rb"%s(?:%s)" % (letter, b"|".join(around)) for letter, around in by_letter.items()))


@cache
def compile_pattern(pattern: bytes) -> "re.Pattern[bytes]":
    """Compile a pattern, once."""
    return re.compile(pattern)


def _rarity(letter: int) -> int:
    at = _FREQUENT.find(letter)
    return at if at >= 0 else len(_FREQUENT)
