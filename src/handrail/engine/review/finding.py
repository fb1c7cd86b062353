"""One review finding: its severity, its place, and an identity that is stable from round to round.

The identity is a hash over file, rule and normalized text. Normalizing removes what may change although the finding
does not: case, white space, punctuation and markup, line numbers, list numbers, and the words by which a reviewer
repeats itself ("still", "again", "as reported in round 1"). Names, other numbers and operators stay: they distinguish
findings of one file. Line and severity are not part of it.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from unicodedata import normalize

from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue

SEVERITIES = ("critical", "high", "medium", "low")
"""From the most to the least severe."""

MAX_TEXT_LENGTH = 2_000
MAX_NAME_LENGTH = 300
SIMILARITY = 0.8
"""The share of common words from which two texts about one file and rule say the same."""
SIMILARITY_UNDER_ONE_NUMBER = 0.3
"""The same threshold if the reviewer gave both the same number: numbers may start over in each round."""

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("critical", "crit", "blocker", "blocking", "fatal", "severe", "p0"), "critical"),
        **dict.fromkeys(("high", "major", "error", "important", "serious", "p1"), "high"),
        **dict.fromkeys(("medium", "med", "moderate", "warning", "warn", "normal", "p2"), "medium"),
        **dict.fromkeys(("low", "minor", "nit", "nitpick", "trivial", "info", "informational", "note"), "low"),
        **dict.fromkeys(("style", "cosmetic", "suggestion", "optional", "p3", "p4"), "low"),
    }
)
SEVERITY_WORDS = tuple(_WORDS)

_LINES = r"(?:lines?|ln|columns?|col)\.?\s*#?\d+(?:\s*(?:-|–|to|and|,)\s*(?:lines?\s*)?\d+)*"
_DROPPED = re.compile(
    rf"\b(?:(?:at|on|in|near|around|from)\s+)?{_LINES}\b"
    r"|(?:#l\d+|\bl\d{2,})(?:-l?\d+)?\b"
    r"|(?<=\.)(\w{1,8}):\d+(?:[:-]\d+)*"
    r"|\b(?:(?:as|reported|raised|mentioned|noted|flagged|found|already|in|from|since|the)\s+)*"
    r"(?:(?:previous|last|earlier|prior)\s+(?:rounds?|reviews?)|(?:review\s+)?round\s*#?\d+)\b"
    r"|\b(?:still|again|yet|once more)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^\W*(?:(?:[a-z]{0,2}-?\d{1,2}[.):\]]+"
    r"|(?:unresolved|unfixed|reopened|recurring|repeated|not fixed|as before|(?:previously|already) reported)\b)\W*)+"
)
_APOSTROPHE = re.compile(r"(?<=\w)['`’](?=\w)")
_TOKEN = re.compile(r"(?<!\w)-\d+|\w+|[<>=!]=|[<>=+%&|^]+")
_QUOTED = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"\w*(?:\d|[a-z_][A-Z]|\w_\w|__)\w*|\w+(?=\(\))")
_COUNTER = re.compile(r"\W*[A-Za-z]{0,8}\W?\d{1,4}\W*")


@frozen(kw_only=True)
class Finding:
    """Something that a reviewer objects to."""

    id: str
    severity: str
    file: str
    line: int | None
    rule: str
    text: str
    suggestion: str = ""
    label: str = ""
    """The reviewer's own name for it."""

    def record(self) -> dict[str, JsonValue]:
        """Return the finding as expressions and prompts see it."""
        return {
            "id": self.id,
            "file": self.file,
            "line": self.line,
            "rule": self.rule,
            "severity": self.severity,
            "message": self.text,
            "suggestion": self.suggestion,
        }


def severity_of(word: str) -> str:
    """Map a reviewer's word to a severity; an unknown word means medium."""
    bare = word.strip().strip("[]()*_`:").casefold()
    return _WORDS.get(bare) or next((_WORDS[each] for each in re.findall(r"\w+", bare) if each in _WORDS), "medium")


def rank(severity: str) -> int:
    """Return the position of a severity, the most severe first."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else SEVERITIES.index("low")


def make_finding(text: str, **given: str | int | None) -> Finding:
    """Build a finding with its identity; `given` has severity, file, line, rule, suggestion and label, if known."""
    file, line = parse_place(str(given.get("file") or ""))
    own = given.get("line")
    rule = re.sub(r"\W+", "-", str(given.get("rule") or "").casefold()).strip("-")[:MAX_NAME_LENGTH]
    body = clip_text(text, MAX_TEXT_LENGTH)
    return Finding(
        id=identity(file, rule, body),
        severity=severity_of(str(given.get("severity") or "")),
        file=file,
        line=own if isinstance(own, int) else line,
        rule=rule,
        text=body,
        suggestion=clip_text(str(given.get("suggestion") or ""), MAX_TEXT_LENGTH),
        label=clip_text(str(given.get("label") or ""), MAX_NAME_LENGTH),
    )


def parse_place(text: str) -> tuple[str, int | None]:
    """Read `path`, `path:12`, `path:12-14` or `path#L12`."""
    bare = clip_text(text.strip().strip("`*\"'").replace("\\", "/"), MAX_NAME_LENGTH)
    found = re.fullmatch(r"(.*?)(?::|#L|\s+line\s+)(\d{1,9})(?:\D.*)?", bare)
    path, line = (found[1], int(found[2])) if found else (bare, None)
    return path.removeprefix("./"), line


def identity(file: str, rule: str, text: str) -> str:
    """Compute the id of a finding, which is the same in whatever round it is reported."""
    parts = "\n".join((file, rule, normalize_text(text)))
    return sha256(parts.encode(errors="replace")).hexdigest()[:12]


def normalize_text(text: str) -> str:
    """Remove from a text what may change although the finding does not."""
    kept = _DROPPED.sub(lambda found: found[1] or " ", _APOSTROPHE.sub("", normalize("NFKC", text).casefold()))
    plain = _LABEL.sub("", kept)
    return " ".join(_TOKEN.findall(plain)) or " ".join(text.split())


def compare_labels(one: Finding, earlier: Finding) -> float:
    """Return 2 if the reviewer gives the earlier finding's id, 1 if it gave both a name of its own, else 0."""
    if one.label == earlier.id:
        return 2
    named = one.label == earlier.label and one.label != "" and not _COUNTER.fullmatch(one.label)
    return 1 if named and one.file == earlier.file else 0


def likeness(one: Finding, other: Finding) -> float:
    """Return how similar two findings are, 0 if they are not the same; differing names in the text decide that."""
    if (one.file, one.rule) != (other.file, other.rule):
        return 0
    labelled = bool(one.label) and one.label == other.label
    mine, theirs = _words(one.text), _words(other.text)
    if not labelled and not (_names(one.text) <= theirs and _names(other.text) <= mine):
        return 0
    share = len(mine & theirs) / max(len(mine | theirs), 1)
    return share if share >= (SIMILARITY_UNDER_ONE_NUMBER if labelled else SIMILARITY) else 0


def clip_text(text: str, most: int) -> str:
    """Strip a text and shorten it, with a mark, if it is too long."""
    bare = text.strip()
    return bare if len(bare) <= most else bare[: most - 1].rstrip() + "…"


# Each finding of a round is compared with all known ones of its file and rule, so their words are read once.
@lru_cache(maxsize=2048)
def _words(text: str) -> frozenset[str]:
    return frozenset(normalize_text(text).split())


@lru_cache(maxsize=2048)
def _names(text: str) -> frozenset[str]:
    """Return the names and numbers in a text: a different name is a different finding."""
    plain = _DROPPED.sub(" ", normalize("NFKC", text))
    quoted = {word for part in _QUOTED.findall(plain) for word in _TOKEN.findall(part)}
    return frozenset(word.casefold() for word in quoted | set(_NAME.findall(plain)))
