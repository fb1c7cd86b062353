"""Finds the cases of the corpus, compiles each with the real library, and writes its diagnostics as text."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from handrail.authoring.read import read_bundle
from handrail.compiler.builtins import Builtins
from handrail.compiler.catalog import Catalog
from handrail.compiler.compile import compile_document
from handrail.compiler.lint import lint
from handrail.model.diagnostics import Diagnostic, Report
from handrail.model.source import Bundle, Document, SourceText
from support.compiler.named_workflows import NamedWorkflows
from support.places import CORPUS

HERE = CORPUS
LIBRARY = HERE.parents[1] / "src" / "handrail" / "library"
BESIDE = ("prompts/*.md", "schemas/*.json", "*.md")


@dataclass(frozen=True)
class Case:
    """A broken workflow: a single file, or a folder with the files that it needs."""

    main: Path
    expected: Path

    @property
    def name(self) -> str:
        return self.expected.relative_to(HERE).with_suffix("").as_posix()

    @property
    def folder(self) -> Path | None:
        return self.main.parent if self.main.stem == "workflow" else None


def cases() -> list[Case]:
    single = [*HERE.glob("native/*.yaml"), *HERE.glob("workrail/*.json")]
    folders = [*HERE.glob("native/*/workflow.yaml"), *HERE.glob("workrail/*/workflow.json")]
    found = [Case(path, path.with_suffix(".expected")) for path in single]
    found += [Case(path, path.parent.with_suffix(".expected")) for path in folders]
    return sorted(found, key=lambda case: case.name)


def bundle_of(case: Case) -> Bundle:
    """Read a case's files; `refused.json` stands for links and files that the sources would not open."""
    paths = [case.main]
    refused: dict[str, str] = {}
    if case.folder is not None:
        paths += [path for pattern in BESIDE for path in sorted(case.folder.glob(pattern))]
        note = case.folder / "refused.json"
        refused = cast("dict[str, str]", json.loads(note.read_text())) if note.exists() else {}
    names = {path: path.relative_to(case.main.parent).as_posix() for path in paths}
    return Bundle(case.main.name, {name: _source(path, name) for path, name in names.items()}, refused)


def _source(path: Path, shown: str) -> SourceText:
    return SourceText(shown, path.read_bytes().decode("utf-8"))


@cache
def builtins() -> Builtins:
    paths = [path for path in LIBRARY.rglob("*") if path.suffix in {".json", ".md"}]
    names = {path: path.relative_to(LIBRARY).as_posix() for path in paths}
    return Builtins({name: _source(path, name) for path, name in names.items()})


def catalog_of(case: Case | None = None) -> Catalog:
    """The library's workflows; beside them those in the case's `others` folder, and the case itself."""
    folder = case.folder if case is not None else None
    note = folder / "bindings.json" if folder is not None else None
    bindings = _source(note, note.name) if note is not None and note.exists() else None

    def find(name: str) -> Document | None:
        places = [LIBRARY / "workflows" / name / "workflow.yaml"]
        if folder is not None:
            places += [folder / "others" / f"{name}.yaml", folder / "others" / f"{name}.json"]
            places += [case.main] if case is not None and folder.name == name else []
        path = next((path for path in places if path.is_file()), None)
        return read_bundle(bundle_of(Case(path, path.with_suffix(".expected"))), Report()) if path else None

    names = tuple(sorted(path.name for path in (LIBRARY / "workflows").iterdir() if path.is_dir()))
    return Catalog(builtins(), bindings, NamedWorkflows(find, names))


def diagnose_bundle(bundle: Bundle, catalog: Catalog) -> Report:
    """Read, compile and lint; give everything that was found."""
    report = Report()
    document = read_bundle(bundle, report)
    if document is not None:
        compiled = compile_document(document, catalog, report)
        for found in lint(compiled, document, catalog):
            report.add(found)
    return report


def diagnostics_of(case: Case) -> list[Diagnostic]:
    return list(diagnose_bundle(bundle_of(case), catalog_of(case)))


def as_text(found: list[Diagnostic], main: str) -> str:
    """Write diagnostics as blocks, in the order of their places; the file is named where it is not the main one."""
    ordered = sorted(found, key=lambda each: (each.file != main, each.file, each.line, each.column))
    return "".join(_block(each, main) for each in ordered)


def _block(found: Diagnostic, main: str) -> str:
    place = f"{found.line}:{found.column}" if found.file == main else f"{found.file}:{found.line}:{found.column}"
    said = f"{place}: {found.severity}: {found.message} [{found.code}]\n"
    return said + (f"  = {found.hint}\n" if found.hint else "")
