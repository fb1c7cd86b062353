"""Ranks how well a run matches what an agent remembers of it: pure, on the words stored for each run."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from handrail.frozen import frozen

Confidence: TypeAlias = Literal["strong", "medium", "weak"]

EXACT_ID, ALL_WORDS, SOME_WORDS, WORKFLOW, COMMIT, BRANCH, RECENT = range(7)
"""The ways to be found, the most certain first."""
MIN_WORD_SHARE = 0.4
"""The share of the words that must match for a run to be found by some of them."""
MAX_WORDS = 32
_WORD = re.compile(r"\w+")
_WEIGHT_BEGINS, _WEIGHT_CLOSE = 0.8, 0.6
_CLOSE = 0.8
_MIN_COMMIT_LENGTH = 4
_MIN_LENGTH = 3
"""The number of characters that a word needs to be found by its beginning or despite a typo."""


@frozen(kw_only=True)
class SessionHints:
    """What an agent knows about the run that it looks for, and where the agent is."""

    run: str = ""
    words: tuple[str, ...] = ()
    query: str = ""
    branch: str = ""
    head: str = ""
    repository: str = ""


@frozen(kw_only=True)
class SessionRecord:
    """What is stored about a run to find it by."""

    run: str
    workflow: str
    words: frozenset[str] = frozenset()
    branch: str = ""
    head: str = ""
    repository: str = ""
    complete: bool = False
    active: float = 0.0
    position: int = 0
    """The position of its last event among those of all runs."""


@frozen
class Match:
    """A run, how it was found, and how well it matches."""

    kept: SessionRecord
    tier: int
    score: float
    why: tuple[str, ...]
    same_repository: bool = False

    @property
    def confidence(self) -> Confidence:
        """How certain it is that this is the right run."""
        if self.tier <= ALL_WORDS:
            return "strong"
        return "weak" if self.tier == RECENT else "medium"

    @property
    def rank(self) -> tuple[int, bool, bool, float, int, str]:
        """The sort key: the smallest is the best."""
        kept = self.kept
        return self.tier, not self.same_repository, kept.complete, -self.score, -kept.position, kept.run


def words_in(text: str) -> tuple[str, ...]:
    """Split a text into words for comparison."""
    return tuple(_WORD.findall(text.casefold()))


def query_words(query: str) -> tuple[str, ...]:
    """Split a query into words, each once."""
    return tuple(dict.fromkeys(words_in(query)))[:MAX_WORDS]


def rank_runs(remembered: SessionHints, runs: Iterable[SessionRecord]) -> list[Match]:
    """Sort runs, the best match first."""
    every = list(runs)
    vocabulary = frozenset[str]().union(*(each.words for each in every))
    alike = {word: _similar_words(word, vocabulary) for word in remembered.words}
    return sorted((_match(remembered, each, alike) for each in every), key=lambda match: match.rank)


def _similar_words(word: str, vocabulary: frozenset[str]) -> Mapping[str, float]:
    """Find the words that count as a match for a word, with the weight of each."""
    found = {word: 1.0}
    if len(word) < _MIN_LENGTH:
        return found
    for other in vocabulary:
        if other == word or len(other) < _MIN_LENGTH or other[0] != word[0]:
            continue
        if other.startswith(word) or word.startswith(other):
            found[other] = _WEIGHT_BEGINS
        elif abs(len(other) - len(word)) <= 1 and SequenceMatcher(None, word, other).ratio() >= _CLOSE:
            found[other] = _WEIGHT_CLOSE
    return found


@dataclass(slots=True)
class _MatchReasons:
    """The ways in which one run was found."""

    tier: int = RECENT
    score: float = 0.0
    why: list[str] = field(default_factory=list[str])

    def add(self, tier: int, score: float, why: str) -> None:
        """Record a way; the most certain decides, the others are reported too."""
        if tier < self.tier:
            self.tier, self.score = tier, score
        self.why.append(why)


def _match(remembered: SessionHints, kept: SessionRecord, alike: Mapping[str, Mapping[str, float]]) -> Match:
    ways = _MatchReasons()
    if kept.run in (remembered.run, remembered.query):
        ways.add(EXACT_ID, 1.0, "run id")
    _match_words(remembered, kept, alike, ways)
    _match_place(remembered, kept, ways)
    if ways.tier == RECENT:
        ways.why.append("recent")
    same = bool(remembered.repository) and remembered.repository == kept.repository
    return Match(kept, ways.tier, ways.score, tuple(ways.why), same)


def _match_words(
    remembered: SessionHints, kept: SessionRecord, alike: Mapping[str, Mapping[str, float]], ways: _MatchReasons
) -> None:
    words = remembered.words
    if not words:
        return
    if kept.words.issuperset(words):
        ways.add(ALL_WORDS, 1.0, "all words of the query in goal and notes")
    else:
        counted = sum(_weight(alike[word], kept.words) * _importance(word) for word in words)
        score = counted / sum(map(_importance, words))
        if score >= MIN_WORD_SHARE:
            ways.add(SOME_WORDS, score, f"{round(score * 100)} % of the query's words in goal and notes")
    if set(words) <= set(words_in(kept.workflow)) or remembered.query.casefold() in kept.workflow.casefold():
        ways.add(WORKFLOW, 1.0, "workflow id")


def _weight(alike: Mapping[str, float], words: frozenset[str]) -> float:
    return max((weight for word, weight in alike.items() if word in words), default=0.0)


def _importance(word: str) -> int:
    """Weight a word by its length, up to a point: long words say more."""
    return min(len(word), 8)


def _match_place(remembered: SessionHints, kept: SessionRecord, ways: _MatchReasons) -> None:
    head, branch = remembered.head.casefold(), remembered.branch
    if len(head) >= _MIN_COMMIT_LENGTH and kept.head.startswith(head):
        ways.add(COMMIT, 1.0, "commit")
    if branch and kept.branch == branch:
        ways.add(BRANCH, 1.0, "branch")
    elif branch and kept.branch and (kept.branch.startswith(branch) or branch.startswith(kept.branch)):
        ways.add(BRANCH, 0.5, "beginning of the branch")
