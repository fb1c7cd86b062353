"""Removes secrets from bytes and texts: known values, and what has the form of a credential.

1. A mask is as long as what it hides: masking can be done in a file while its writer continues to append to it.
2. A mask contains no quote, backslash or line break, and hides no line break: lines of JSON stay lines of JSON.
3. Time is linear in the input: every pattern begins with a literal, and its matches are bounded or cannot overlap.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from json import dumps

from handrail.frozen import frozen
from handrail.model.secrets.credential_forms import CredentialForms, Form, compile_pattern

MIN_LENGTH = 8
"""A shorter value is not treated as a secret: hiding it would hide unrelated words."""
MIN_LINE_LENGTH = 16
"""A line of a multi-line value that is at least this long is also hidden on its own."""
MAX_HELD_BYTES = 128 << 10
"""The most bytes that are held back while more may follow."""
MAX_PASSES = 8
_HIDDEN = re.compile(rb"[^\r\n]+")
_OPEN = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY")
_CLOSED = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----")


@frozen
class SecretMatch:
    """A secret in some bytes, and what it is: the kind of credential, or the variable whose value it is."""

    start: int
    end: int
    kind: str
    since: int
    """The start of the context that identifies it: the name before it, the address around it."""
    until: int


class Redactor:
    """Knows the secrets of one place: values by name, and the forms of credentials."""

    def __init__(self, values: Mapping[str, str], forms: CredentialForms, *others: "Redactor") -> None:
        self._names = _spellings(values.items())
        for other in others:
            self._names |= other._names
        self._forms = forms
        self._words = sorted(self._names, key=lambda word: (-len(word), word))
        self._begun = [word[: at + 1] for word in self._words for at in _line_ends(word)]
        """The possible beginnings of a multi-line value, each up to the end of one of its lines."""

    def merge(self, other: "Redactor") -> "Redactor":
        """Return a redactor that knows the secrets of two places."""
        return Redactor({}, self._forms, other, self)

    def find(self, data: bytes, *, forms: bool = True) -> list[SecretMatch]:
        """Find the secrets, in order and without overlap; without `forms` only known values."""
        if not self._words and forms and not self._forms.can_match(data):
            return []
        found = [
            SecretMatch(*_keep_escapes_whole(data, *at), self._names[word], *at)
            for word in self._words
            for at in _find_all(data, word)
        ]
        for form in self._forms.candidates(data) if forms else ():
            found += [_build_found(data, form, m) for m in compile_pattern(form.pattern).finditer(data)]
        return _merge_overlaps(sorted(found, key=lambda each: (each.start, -each.end))) if found else found

    def data(self, data: bytes, *, forms: bool = True) -> bytes:
        """Mask every secret; masking again changes nothing."""
        for _ in range(MAX_PASSES):
            found = self.find(data, forms=forms)
            masked = _mask_secrets(data, found) if found else data
            if masked == data:
                break
            # What was right beside a secret may be recognized as one only now.
            data = masked
        return data

    def text(self, text: str) -> str:
        """Mask every secret of a text."""
        data = text.encode("utf-8", "surrogatepass")
        masked = self.data(data)
        return text if masked == data else masked.decode("utf-8", "surrogatepass")

    def find_variable_names(self, text: str) -> tuple[str, ...]:
        """List the variables whose values occur in a text."""
        data = text.encode("utf-8", "surrogatepass")
        return tuple(dict.fromkeys(self._names[word] for word in self._words if word in data))

    def stable_length(self, data: bytes) -> int:
        """Return up to where nothing that follows can change what is a secret: whole lines, but no open private key."""
        end = data.rfind(b"\n") + 1
        opened = [m.start() for m in _OPEN.finditer(data)] if b"PRIVATE KEY" in data else []
        if opened:
            closed = _CLOSED.search(data, opened[-1])
            end = (
                end if closed is not None and closed.end() <= end else self._boundary_before(data, min(end, opened[-1]))
            )
        begun = next((each for each in self._begun if data.endswith(each, 0, end)), b"")
        end = self._boundary_before(data, end - len(begun)) if begun else end
        if len(data) - end <= MAX_HELD_BYTES:
            return end
        end = len(data) - MAX_HELD_BYTES // 2
        return self._boundary_before(data, end) or end

    def _boundary_before(self, data: bytes, end: int) -> int:
        """Find the last position, up to a given one, that no secret spans, including the backslashes before it."""
        for each in reversed(self.find(data)):
            if each.since < end < each.until:
                end = each.since
        return len(data[:end].rstrip(b"\\"))


def _line_ends(word: bytes) -> list[int]:
    """Return where the lines of a value end, except for the last."""
    return [at for at, byte in enumerate(word[:-1]) if byte == ord("\n")]


def _spellings(named: Iterable[tuple[str, str]]) -> dict[bytes, str]:
    """Map every spelling of a value to its name: as it is, in JSON, and each of its long lines separately."""
    names: dict[bytes, str] = {}
    for name, value in named:
        lines = [line for line in value.splitlines() if len(line.strip()) >= MIN_LINE_LENGTH]
        for each in (value, value.strip(), *(lines if len(lines) > 1 or "\n" in value else ())):
            if len(each) >= MIN_LENGTH and each.strip("*"):
                inner = (dumps(each)[1:-1], dumps(each, ensure_ascii=False)[1:-1])
                for word in (each, *inner, *(one.replace("/", "\\/") for one in inner)):
                    names.setdefault(word.encode("utf-8", "surrogatepass"), name)
    return names


def _build_found(data: bytes, form: Form, match: "re.Match[bytes]") -> SecretMatch:
    start, end = match.span(match.re.groups and 1)
    return SecretMatch(*_keep_escapes_whole(data, start, end), form.kind, *match.span())


def _find_all(data: bytes, word: bytes) -> Iterator[tuple[int, int]]:
    at = data.find(word)
    while at >= 0:
        yield at, at + len(word)
        at = data.find(word, at + len(word))


def _keep_escapes_whole(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Preserve JSON escapes: one that begins before a secret, and one that continues after it."""
    before = start - len(data[max(0, start - 64) : start].rstrip(b"\\")) - max(0, start - 64)
    inside = data[start:end]
    trailing = len(inside) - len(inside.rstrip(b"\\"))
    return start + before % 2, max(start + before % 2, end - trailing % 2)


def _merge_overlaps(found: list[SecretMatch]) -> list[SecretMatch]:
    joined: list[SecretMatch] = []
    for each in found:
        last = joined[-1] if joined else None
        if each.start == each.end:
            continue
        if last is None or each.start >= last.end:
            joined.append(each)
        elif each.end > last.end:
            since, until = min(last.since, each.since), max(last.until, each.until)
            joined[-1] = SecretMatch(last.start, each.end, last.kind, since, until)
    return joined


def _mask_secrets(data: bytes, found: list[SecretMatch]) -> bytes:
    pieces: list[bytes] = []
    at = 0
    for each in found:
        hidden = data[each.start : each.end]
        pieces += (data[at : each.start], _HIDDEN.sub(lambda m, kind=each.kind: _mask(len(m[0]), kind), hidden))
        at = each.end
    return b"".join((*pieces, data[at:]))


def _mask(length: int, kind: str) -> bytes:
    label = f"[secret:{kind}".encode()
    return label + b"*" * (length - len(label) - 1) + b"]" if length > len(label) else b"*" * length
