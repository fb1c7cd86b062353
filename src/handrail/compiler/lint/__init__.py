"""Finds what is allowed in a compiled workflow but probably not intended."""

from collections.abc import Callable, Iterable

from handrail.compiler.catalog import Catalog
from handrail.compiler.lint.budgets import lint_small_budgets
from handrail.compiler.lint.commands import lint_shared_work_trees, lint_unquoted_agent_text
from handrail.compiler.lint.conditions import lint_constant_conditions
from handrail.compiler.lint.context import LintContext, gather
from handrail.compiler.lint.fan_outs import lint_unmerged_fan_outs
from handrail.compiler.lint.flow import lint_unchanging_loops, lint_unreachable_steps
from handrail.compiler.lint.forms import lint_placeholders, lint_wrapped_conditions
from handrail.compiler.lint.judgments import lint_follow_ups_without_retry, lint_same_dimensions, lint_single_dimensions
from handrail.compiler.lint.keys import lint_keys_without_effect
from handrail.compiler.lint.not_used import lint_unused_keys
from handrail.compiler.lint.outputs import lint_unused_outputs
from handrail.compiler.lint.proofs import lint_hidden_failures, lint_impassable_gates
from handrail.compiler.lint.references import lint_references
from handrail.compiler.lint.tools import lint_forbidden_requests
from handrail.compiler.lint.weak_words import lint_lazy_wording, lint_vibes_only
from handrail.compiler.outcome import CompileResult
from handrail.model.diagnostics import Diagnostic
from handrail.model.source import Document

LINTS: dict[str, Callable[[LintContext], None]] = {
    "unreachable-step": lint_unreachable_steps,
    "constant-condition": lint_constant_conditions,
    "loop-cannot-change": lint_unchanging_loops,
    "gate-cannot-pass": lint_impassable_gates,
    "unmerged-fan-out": lint_unmerged_fan_outs,
    "not-used-yet": lint_unused_keys,
    "unused-output": lint_unused_outputs,
    "forbidden-in-prompt": lint_forbidden_requests,
    "unquoted-agent-text": lint_unquoted_agent_text,
    "shared-work-tree": lint_shared_work_trees,
    "budget-too-small": lint_small_budgets,
    "single-dimension": lint_single_dimensions,
    "follow-up-without-retry": lint_follow_ups_without_retry,
    "same-dimension": lint_same_dimensions,
    "vibes-only": lint_vibes_only,
    "lazy-wording": lint_lazy_wording,
    "reference-for-authors": lint_references,
    "wrapped-condition": lint_wrapped_conditions,
    "placeholder-in-prompt": lint_placeholders,
    "no-effect": lint_keys_without_effect,
    "hidden-by-and": lint_hidden_failures,
}
"""The lints, each by the code under which it reports."""
PLAIN = ("unmerged-fan-out", "not-used-yet")
"""The lints that run whenever a workflow is checked, because what its author expects does not happen."""


def lint(
    compiled: CompileResult, document: Document, catalog: Catalog, only: Iterable[str] = tuple(LINTS)
) -> tuple[Diagnostic, ...]:
    """Look for what is probably not intended; returns nothing where the workflow could not be compiled."""
    if compiled.plan is None:
        return ()
    context = gather(compiled.plan, document, catalog, compiled.places)
    for code in only:
        LINTS[code](context)
    main = document.bundle.source.path
    return tuple(sorted(context.report, key=lambda found: (found.file != main, found.file, found.line, found.column)))
