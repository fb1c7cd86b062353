"""Words in prompts that allow an agent to do less than intended."""

import re

from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.prompts import PromptText
from handrail.compiler.lint.sentences import sentences
from handrail.model.source import SourceText, Span

VAGUE_STATUS = re.compile(
    r"(?<![A-Za-z0-9])(?:still[_ -]?fuzzy|context[_-]?audit[_-]?needed)(?![A-Za-z0-9])", re.IGNORECASE
)


def lint_vibes_only(context: LintContext) -> None:
    """Advise against variables that hold an impression instead of a fact."""
    for source in _sources(context):
        lowered = source.text.lower()
        if "fuzzy" not in lowered and "audit" not in lowered:
            continue
        for found in VAGUE_STATUS.finditer(source.text):
            message = f"'{found[0]}' asks for a feeling, which cannot be checked"
            hint = "ask for facts instead: how many questions are open, which files were not read, and list them"
            context.report.advice("vibes-only", message, Span(source, *found.span()), hint)


def _sources(context: LintContext) -> list[SourceText]:
    found = {told.place.path: told.place for told in context.texts if isinstance(told.place, SourceText)}
    return [context.document.bundle.source, *found.values()]


SOFT = re.compile(
    r"\b(?:if appropriate|minimal pass|light scan|you may(?! (?:not|see|find|notice|encounter|need|already|have|be|get|"
    r"assume|know|never|only|also)\b)|smallest|cheapest)\b",
    re.IGNORECASE,
)
FLOOR = re.compile(
    r"\b(?:that still|while still|which still|at least|must|enough to|as long as|only if|only when|only for|record why|"
    r"say why|state why|explain why|note why|unless|provided|without losing|without weakening|without changing|"
    r"no (?:less|fewer) than|never|do not|don['’]t|required|but not|except)\b",
    re.IGNORECASE,
)
ENOUGH = re.compile(
    r"(?:smallest|cheapest)\b(?:[^.;]{0,200}\b(?:that|which|to|able|needed|necessary|where)\b|\s+(?:\w+ly\s+)?"
    r"(?:correct|complete|safe|viable|sufficient|adequate|useful|meaningful|releasable|credible|reliable)\b)",
    re.IGNORECASE,
)
"""A superlative that names its goal sets its own floor: the smallest change that makes the test pass."""
BOUNDED = re.compile(r"\b(?:if|when|where|once|after)\b(?! appropriate)", re.IGNORECASE)
"""A conditional permission does not invite an agent to do little."""


def lint_lazy_wording(context: LintContext) -> None:
    """Advise to add a minimum to words that invite an agent to do little."""
    for told in context.texts:
        if SOFT.search(told.text):
            _lint_soft_words(context, told)


def _lint_soft_words(context: LintContext, told: PromptText) -> None:
    found = sentences(told.text)
    for index, sentence in enumerate(found):
        after = found[index + 1].text if index + 1 < len(found) else ""
        if FLOOR.search(sentence.text) or FLOOR.search(after):
            continue
        for soft in SOFT.finditer(sentence.text):
            if _has_floor(sentence.text, soft):
                continue
            message = f"'{soft[0]}' sets no minimum, so the least possible effort is good enough"
            hint = "state in the same or the next sentence what is required nonetheless: at least …, enough to …"
            at = told.locate(sentence.start + soft.start(), sentence.start + soft.end())
            context.report.advice("lazy-wording", message, at, hint)


def _has_floor(sentence: str, soft: re.Match[str]) -> bool:
    if soft[0].casefold() == "you may":
        return BOUNDED.search(sentence, max(0, soft.start() - 300), soft.start()) is not None
    return ENOUGH.match(sentence, soft.start()) is not None
