"""Plans of native workflows, and what is wrong with those that have none."""

from handrail.model.workflow.plan import Plan
from support.compiler.native_case import compile_text, shown


def plan_of(text: str, files: dict[str, str] | None = None) -> Plan:
    compiled, _, _ = compile_text(text, files)
    assert compiled.plan is not None, shown(compiled.diagnostics)
    return compiled.plan


def errors_of(text: str, files: dict[str, str] | None = None) -> str:
    compiled, _, _ = compile_text(text, files)
    return shown(compiled.diagnostics)


def flow(steps: str, top: str = "") -> str:
    return f"name: a\n{top}steps:\n{steps}"
