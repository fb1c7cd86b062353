"""Compiles texts as if they lay in a folder, with the real library."""

import json
from textwrap import dedent, indent
from typing import Any

from handrail.authoring.read import read_bundle
from handrail.compiler.catalog import Catalog
from handrail.compiler.compile import compile_document
from handrail.compiler.lint import lint
from handrail.compiler.outcome import CompileResult
from handrail.model.diagnostics import Diagnostic, Report
from handrail.model.source import Bundle, Document, SourceText
from handrail.sources.library import builtins, library_root
from support.compiler.named_workflows import NamedWorkflows


def read_text(text: str, files: dict[str, str] | None = None, main: str = "workflow.yaml") -> Document:
    """Read a workflow whose other files are given as texts; its shape must be readable."""
    texts = {main: text, **(files or {})}
    report = Report()
    document = read_bundle(Bundle(main, {path: SourceText(path, each) for path, each in texts.items()}), report)
    assert document is not None, shown(tuple(report))
    return document


def library_workflow(name: str) -> Document | None:
    """Read a workflow of the library; None where there is none."""
    folder = library_root() / "workflows" / name
    if not folder.is_dir():
        return None
    files = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.*"))}
    return read_text(files.pop("workflow.yaml"), files)


def catalog_of(workflows: dict[str, str] | None = None) -> Catalog:
    """Make a catalog with the library, and workflows given as texts by their names."""
    documents = {name: read_text(text) for name, text in (workflows or {}).items()}

    def find(name: str) -> Document | None:
        return documents.get(name) or library_workflow(name)

    return Catalog(builtins(), index=NamedWorkflows(find))


def compile_text(
    text: str,
    files: dict[str, str] | None = None,
    *,
    main: str = "workflow.yaml",
    workflows: dict[str, str] | None = None,
) -> tuple[CompileResult, Document, Catalog]:
    """Compile a text; with a `main` that ends in .json it is WorkRail's. `workflows` are those it may call."""
    catalog = catalog_of(workflows)
    document = read_text(text, files, main)
    return compile_document(document, catalog), document, catalog


def compile_library(name: str) -> tuple[CompileResult, Document, Catalog]:
    """Compile a workflow of the library."""
    document = library_workflow(name)
    assert document is not None
    catalog = catalog_of()
    return compile_document(document, catalog), document, catalog


def shown(found: tuple[Diagnostic, ...]) -> str:
    """Show diagnostics as `file:line:column code message`, one per line."""
    return "\n".join(f"{each.file}:{each.line}:{each.column} {each.code} {each.message}" for each in found)


def workflow(steps: str, head: str = "") -> str:
    """Make a workflow of steps, which begin in line 4; `head` adds keys at its end."""
    body = indent(dedent(steps).strip("\n"), "  ")
    return f"name: case\ndescription: a case\nsteps:\n{body}\n{dedent(head)}"


def lint_text(text: str, files: dict[str, str] | None = None, **more: Any) -> str:
    """Compile a workflow, which must be valid, and show what lint finds."""
    compiled, document, catalog = compile_text(text, files, **more)
    assert compiled.ok, shown(compiled.diagnostics)
    return shown(lint(compiled, document, catalog))


def lint_steps(steps: str, head: str = "", files: dict[str, str] | None = None) -> str:
    """Show what lint finds in native steps."""
    return lint_text(workflow(steps, head), files)


def guided(steps: list[dict[str, Any]], **more: Any) -> str:
    """Make the text of a WorkRail-style workflow."""
    without = {"promptBlocks", "loop", "parallelDelegations"}
    told: list[dict[str, Any]] = [{} if without & set(step) else {"prompt": "Look."} for step in steps]
    pairs = enumerate(zip(told, steps, strict=True))
    made = [{"id": f"step-{index}", "title": "Look", **text, **step} for index, (text, step) in pairs]
    root = {"id": "guided-case", "name": "Case", "description": "a case", "version": "1.0.0", **more, "steps": made}
    return json.dumps(root, indent=2)


def lint_guided(steps: list[dict[str, Any]], **more: Any) -> str:
    """Show what lint finds in WorkRail-style steps."""
    return lint_text(guided(steps, **more), main="workflow.json")
