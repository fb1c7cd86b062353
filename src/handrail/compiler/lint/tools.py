"""Prompts that ask for what their step forbids."""

import re
from collections.abc import Iterator

from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.prompts import PromptText
from handrail.compiler.lint.sentences import Sentence, sentences
from handrail.model.workflow.settings import AgentTask

PLAIN = ("WebFetch", "WebSearch", "NotebookEdit", "MultiEdit", "TodoWrite", "Bash")
"""Names of tools that are not English words."""
WORDS = ("Edit", "Write", "Read", "Glob", "Grep", "Task")
"""Names that are also English words, and mean the tool only in backticks or before `tool`."""
TOOL = re.compile(rf"`({'|'.join((*PLAIN, *WORDS))})`|\b({'|'.join(PLAIN)})\b|\b({'|'.join(WORDS)}) tool\b")
NEGATION = re.compile(
    r"\b(?:not|never|no|none|nothing|without|avoid|instead of|cannot|forbidden|refuse|unless|don['’]t|won['’]t|"
    r"can['’]t|must ?n['’]t|shouldn['’]t|doesn['’]t|isn['’]t|neither|nor)\b",
    re.IGNORECASE,
)
_NOUNS = r"files?|code|source code|tests?|test files?|modules?|functions?|implementation"
_PATH = r"`?[\w./-]*\w\.(?:py|js|ts|tsx|go|rs|java|md|ya?ml|json|toml)\b"
_STOPS = "of|about|on|for|to|from|in|as|with"
_AFTER = rf"(?=\s*(?:[.,;:)!]|$)|\s+(?:{_STOPS}|that|which|so|and|under|at|into|when|until|where|if)\b)"
CHANGES = re.compile(
    r"\b(?:edit|modify|change|write|create|add|delete|remove|rename|move|rewrite|refactor|fix|update|overwrite)\s+"
    rf"(?:(?:(?!(?:{_STOPS})\b)[\w-]+\s+){{0,3}}?(?:{_NOUNS}){_AFTER}|{_PATH})",
    re.IGNORECASE | re.MULTILINE,
)
COMMITS = re.compile(
    r"\b(?:git\s+)?(?:commit|push)(?=\s+(?:it|them|your|the|this|these|all|everything|to|and|with|when)\b|\s*[.,;!]|\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
GIT = re.compile(r"`git (?:commit|push)\b[^`]*`")
IMPERATIVE = re.compile(
    r"(?:^|[-*]\s+|\d+[.)]\s+|\b(?:then|and|please|now|first|must|should|next|finally)\s+|[,;:]\s+)$", re.IGNORECASE
)
"""What precedes a verb in the imperative."""


def lint_forbidden_requests(context: LintContext) -> None:
    """Warn of a prompt that names a tool its step does not allow, or that asks an agent with read access to write."""
    for told in context.texts:
        task = told.task
        if task is None or not (task.access == "read" or task.disallowed_tools or task.allowed_tools is not None):
            continue
        if not any(pattern.search(told.text) for pattern in (TOOL, CHANGES, COMMITS, GIT)):
            continue
        for sentence in sentences(told.text):
            if not NEGATION.search(sentence.text):
                _check(context, told, task, sentence)


def _check(context: LintContext, told: PromptText, task: AgentTask, sentence: Sentence) -> None:
    for found in TOOL.finditer(sentence.text):
        name = found[1] or found[2] or found[3]
        why = _explain_refusal(task, name)
        if why is not None:
            at = told.locate(sentence.start + found.start(), sentence.start + found.end())
            message = f"the prompt asks for the tool {name}, which {why}"
            context.report.warning("forbidden-in-prompt", message, at, "allow the tool, or reword the prompt")
    for start, end in _writes(sentence.text) if task.access == "read" else ():
        at = told.locate(sentence.start + start, sentence.start + end)
        message = f"the prompt asks to '{' '.join(sentence.text[start:end].split())}', but the agent has `access: read`"
        hint = "write `access: edit`, or state what it should report instead"
        context.report.warning("forbidden-in-prompt", message, at, hint)


def _explain_refusal(task: AgentTask, name: str) -> str | None:
    # `Bash(git push:*)` refuses or allows only some uses of a tool; the tool itself is available.
    if name in task.disallowed_tools:
        return "`disallowed_tools` forbids"
    allowed = {tool.partition("(")[0] for tool in task.allowed_tools or ()}
    return None if task.allowed_tools is None or name in allowed else "is not in `allowed_tools`"


def _writes(sentence: str) -> Iterator[tuple[int, int]]:
    for pattern in (CHANGES, COMMITS):
        for found in pattern.finditer(sentence):
            if IMPERATIVE.search(sentence[max(0, found.start() - 20) : found.start()]):
                yield found.span()
    for found in GIT.finditer(sentence):
        yield found.span()
