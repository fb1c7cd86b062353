"""Holds every imported workflow to the format and to the compiler."""

from collections.abc import Callable

import pytest

from handrail.authoring.importers import ImportedWorkflows
from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.read import read_bundle
from handrail.authoring.shapes.conform import conform
from handrail.compiler.builtins import Builtins
from handrail.compiler.catalog import Catalog
from handrail.compiler.compile import compile_document
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, SourceText
from support.places import LIBRARY


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    paths = [path for path in LIBRARY.rglob("*") if path.suffix in (".json", ".md")]
    names = {path.relative_to(LIBRARY).as_posix(): path for path in paths}
    return Catalog(Builtins({name: SourceText(name, path.read_text("utf-8")) for name, path in names.items()}))


@pytest.fixture(scope="session")
def problems(catalog: Catalog) -> Callable[[ImportedWorkflows], list[str]]:
    """Give what the format and the compiler have against the imported workflows."""

    def check(imported: ImportedWorkflows) -> list[str]:
        found: list[str] = []
        for path in imported.files:
            if path.endswith("/workflow.yaml"):
                found.extend(_check(imported, path.removesuffix("workflow.yaml"), catalog))
        return found

    return check


def _check(imported: ImportedWorkflows, folder: str, catalog: Catalog) -> list[str]:
    inside = {path[len(folder) :]: text for path, text in imported.files.items() if path.startswith(folder)}
    bundle = Bundle("workflow.yaml", {path: SourceText(path, text) for path, text in inside.items()})
    report = Report()
    document = read_bundle(bundle, report)
    if document is not None:
        conform(WORKFLOW, document.root, report)
    if document is not None and not report.failed:
        compile_document(document, catalog, report)
    return [f"{each.file}:{each.line} {each.code}: {each.message} [{each.text}]" for each in report if each.is_error]
