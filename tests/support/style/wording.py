"""The wordings that Handrail does not use, what it says instead, and where one of them is right after all."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch

from support.style.prose import read_passages


@dataclass(frozen=True, slots=True)
class Term:
    """A wording as a regular expression; a blank in it stands for any white space."""

    pattern: str
    instead: str


@dataclass(frozen=True, slots=True)
class Allowed:
    """A wording that is right in some files."""

    files: str
    pattern: str
    reason: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A wording that was found."""

    path: str
    line: int
    text: str
    term: Term

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: “{self.text}”; say: {self.term.instead}"


_BE = r"(?:is|are|was|were|be|been|being)"
_DEALS_WITH = r"(?:ask(?:s|ed|ing)?|wait(?:s|ed|ing)? for|need(?:s|ed)?|tell(?:s|ing)?)"

TERMS = (
    Term(r"\banew\b", "again, over"),
    Term(r"\bmend(?:s|ed|ing)?\b", "fix"),
    Term(r"\bwork trees?\b", "worktree"),
    Term(r"\b(?<!hand )(?<!hands )(?<!handing )in all(?= so far|[.,;:)!?]|$)", "in total"),
    Term(rf"\b{_BE} no (?!longer\b|more\b|less\b|other\b|better\b|worse\b|different\b)\w+", "is not a …"),
    Term(r"\bnobody (?:drives?|drove|runs?|is driving|is running)\b", "no process is running it"),
    Term(rf"\b{_DEALS_WITH} (?:somebody|nobody)\b", "a person, is not waiting"),
    Term(r"\bby (?:itself|themselves|oneself)\b", "automatically, alone, on its own"),
    Term(r"\btold\b", "notified, given, passed, configured, shown"),
    Term(r"\bHandrail's again\b", "Handrail is running it again"),
    Term(r"\bfor a connected agent now\b", "handed over to a connected agent"),
    Term(r"\bthe agent ended with (?!exit code)", "what happened: the agent is not logged in"),
    Term(r"\bended repeated\b", "stopped without progress"),
    Term(r"\b(?:cannot|can not) perform\b", "not supported"),
    Term(r"\bthe (?:least|most|greatest) is\b", "the minimum is, the maximum is"),
    Term(r"\b(?:after one another )?in a circle\b", "circular dependency, loop"),
    Term(r"\bfits nothing\b", "unexpected"),
    Term(r"\bor not all of it\b", "incomplete"),
    Term(r"\bthat must be given\b", "required"),
    Term(r"\bkept under a ref\b", "a backup ref is kept"),
    Term(r"\ball that there are\b", "explored all"),
    Term(r"\blooked into\b", "analysed, searched"),
    Term(r"\bruns will stop there\b", "every run will stop at it"),
    Term(r"\b(?:has|have) none\)", "say what is run, and where"),
    Term(r"\bcan be held to\b", "what can be enforced"),
    Term(r"\bstands? in `?(?:docs/|\w+\.md)", "the page lists, see the page"),
    Term(r"\bhow far a (?:guided )?run goes on alone\b", "how autonomous a run is"),
    Term(r"\bis that of a pipe\b", "shown as it looks when piped"),
)

_PATTERNS = tuple((re.compile(each.pattern, re.IGNORECASE), each) for each in TERMS)
_SPACE = re.compile(r"(\s+)")

ALLOWED = (
    Allowed("*", r"\bthere (?:\w+ ){0,3}no\b", "says that something does not exist, not what it is"),
    Allowed("*/sql/migrations/*", r".+", "a migration that ran somewhere is never changed"),
    Allowed(
        "src/handrail/workspace/*",
        r"\b(?:of a work tree by Handrail|in the work tree$)",
        "recorded in refs and records that older versions wrote, and compared with them",
    ),
)


def find_wordings(path: str, text: str, allowed: tuple[Allowed, ...] = ALLOWED) -> Iterator[Hit]:
    """Find the wordings in the prose of a file that are not allowed there."""
    here = [re.compile(each.pattern, re.IGNORECASE) for each in allowed if fnmatch(path, each.files)]
    for passage in read_passages(path, text):
        flat, lines = _flatten(passage.text)
        excused = [each.span() for pattern in here for each in pattern.finditer(flat)]
        for pattern, term in _PATTERNS:
            for found in pattern.finditer(flat):
                if not any(begin < found.end() and found.start() < end for begin, end in excused):
                    yield Hit(path, passage.line + lines[found.start()], found[0], term)


def _flatten(text: str) -> tuple[str, list[int]]:
    """Make each white space one blank; the second result has the line of each character that is left."""
    flat, lines, line = list[str](), list[int](), 0
    for part in _SPACE.split(text):
        flat.append(" " if part.isspace() else part)
        lines += [line] * len(flat[-1])
        line += part.count("\n")
    return "".join(flat), lines
