"""Last pass: checks that no token is left unresolved in a prompt."""

import re

from handrail.authoring.readers.locate import span_at
from handrail.compiler.workrail.message_names import quote_name
from handrail.compiler.workrail.passes_state import Compilation
from handrail.compiler.workrail.tree import text
from handrail.compiler.workrail.visit import prompts, walk_steps
from handrail.model.source import Document

LEFT = re.compile(r"\{\{wr\.[^{}]*(?:\}\})?")


def refuse_unresolved(document: Document, work: Compilation) -> Document:
    """Report every `{{wr.` that is left, unless an earlier error explains it."""
    if work.report.failed:
        return document
    for step in walk_steps(document.root):
        for prompt in prompts(step):
            for found in LEFT.finditer(str(prompt.value)):
                message = f"{quote_name(found[0])} in step '{text(step, 'id')}' cannot be resolved"
                hint = "only {{wr.bindings.SLOT}} is resolved in prompts; library texts are parts of prompt blocks"
                work.report.error("unresolved-token", message, span_at(prompt, *found.span()), hint)
    return document
