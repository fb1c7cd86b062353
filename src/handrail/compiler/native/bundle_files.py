"""Finds the files of a workflow's folder that its steps name by their paths."""

from typing import Literal

from handrail.compiler.native.context import Lowering
from handrail.model.path_rules import escape
from handrail.model.source import Scalar, SourceText
from handrail.model.suggest import did_you_mean

_MISSING = {"prompt": "missing-prompt", "schema": "missing-schema"}


def bundled(work: Lowering, node: Scalar, path: str, what: Literal["prompt", "schema"]) -> SourceText | None:
    """Give the file at a path, or report why there is none that may be read."""
    bundle = work.document.bundle
    reason = escape(path)
    if reason is not None:
        hint = f"{what}s stay inside the workflow's folder"
        work.report.error("path-escape", f"the {what} '{path}' {reason}", node, hint)
    elif path in bundle.refused:
        work.report.error("path-escape", f"the {what} '{path}' cannot be used: {bundle.refused[path]}", node)
    elif path not in bundle.files:
        guess = did_you_mean(path, bundle.files)
        work.report.error(_MISSING[what], f"there is no file '{path}' in the workflow's folder{guess}", node)
    else:
        return bundle.files[path]
    return None
