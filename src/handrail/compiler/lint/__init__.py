"""Finds what is allowed in a compiled workflow but probably not intended."""

from collections.abc import Callable, Iterable

from handrail.compiler.catalog import Catalog
from handrail.compiler.lint.budgets import small_budgets
from handrail.compiler.lint.commands import shared_work_trees, unquoted_agent_text
from handrail.compiler.lint.conditions import constant_conditions
from handrail.compiler.lint.context import LintContext, gather
from handrail.compiler.lint.fan_outs import unmerged_fan_outs
from handrail.compiler.lint.flow import loops_that_cannot_change, unreachable_steps
from handrail.compiler.lint.forms import placeholders_in_prompts, wrapped_conditions
from handrail.compiler.lint.judgments import follow_ups_without_retry, same_dimensions, single_dimensions
from handrail.compiler.lint.keys import keys_without_effect
from handrail.compiler.lint.not_used import keys_that_nothing_uses
from handrail.compiler.lint.outputs import unused_outputs
from handrail.compiler.lint.proofs import gates_that_cannot_pass, hidden_failures
from handrail.compiler.lint.references import references_for_authors
from handrail.compiler.lint.tools import forbidden_requests
from handrail.compiler.lint.weak_words import lazy_wording, vibes_only
from handrail.compiler.outcome import Compiled
from handrail.model.diagnostics import Diagnostic
from handrail.model.source import Document

LINTS: dict[str, Callable[[LintContext], None]] = {
    "unreachable-step": unreachable_steps,
    "constant-condition": constant_conditions,
    "loop-cannot-change": loops_that_cannot_change,
    "gate-cannot-pass": gates_that_cannot_pass,
    "unmerged-fan-out": unmerged_fan_outs,
    "not-used-yet": keys_that_nothing_uses,
    "unused-output": unused_outputs,
    "forbidden-in-prompt": forbidden_requests,
    "unquoted-agent-text": unquoted_agent_text,
    "shared-work-tree": shared_work_trees,
    "budget-too-small": small_budgets,
    "single-dimension": single_dimensions,
    "follow-up-without-retry": follow_ups_without_retry,
    "same-dimension": same_dimensions,
    "vibes-only": vibes_only,
    "lazy-wording": lazy_wording,
    "reference-for-authors": references_for_authors,
    "wrapped-condition": wrapped_conditions,
    "placeholder-in-prompt": placeholders_in_prompts,
    "no-effect": keys_without_effect,
    "hidden-by-and": hidden_failures,
}
"""The lints, each by the code under which it reports."""
PLAIN = ("unmerged-fan-out", "not-used-yet")
"""The lints that run whenever a workflow is checked, because what its author expects does not happen."""


def lint(
    compiled: Compiled, document: Document, catalog: Catalog, only: Iterable[str] = tuple(LINTS)
) -> tuple[Diagnostic, ...]:
    """Look for what is probably not intended; returns nothing where the workflow could not be compiled."""
    if compiled.plan is None:
        return ()
    context = gather(compiled.plan, document, catalog, compiled.places)
    for code in only:
        LINTS[code](context)
    main = document.bundle.source.path
    return tuple(sorted(context.report, key=lambda found: (found.file != main, found.file, found.line, found.column)))
