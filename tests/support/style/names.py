"""Counts names and docstrings of Python sources."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.style.words import PARTICLES, is_gerund, is_participle

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Documented = _Function | ast.ClassDef | ast.Module
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True, slots=True)
class Share:
    """Places that break a rule, among all places where it applies."""

    hits: tuple[str, ...]
    total: int

    @property
    def percent(self) -> float:
        return 100 * len(self.hits) / self.total if self.total else 0.0


def measure_functions(sources: dict[str, str]) -> Share:
    """Count the functions, methods and properties that begin with a participle; special methods are Python's names."""
    names = [(path, each) for path, text in sources.items() for each in _functions(text)]
    hits = [f"{path}:{each.lineno} {each.name}" for path, each in names if _begins_with_participle(each.name)]
    return Share(tuple(hits), len(names))


def measure_classes(sources: dict[str, str]) -> Share:
    """Count the classes named by a participle that no noun follows: `Wanted`, `PassedBy`, and not `PinnedWorkflow`."""
    classes = [
        (path, each)
        for path, text in sources.items()
        for each in ast.walk(ast.parse(text))
        if isinstance(each, ast.ClassDef)
    ]
    hits = [f"{path}:{each.lineno} {each.name}" for path, each in classes if _is_bare_participle(each.name)]
    return Share(tuple(hits), len(classes))


def measure_modules(paths: list[str]) -> Share:
    """Count the modules and packages with a gerund as their last word, or as their only one."""
    modules = sorted({part for path in paths for part in _modules(path)})
    hits = [each for each in modules if is_gerund(Path(each).stem.split("_")[-1])]
    return Share(tuple(hits), len(modules))


def measure_docstrings(sources: dict[str, str]) -> Share:
    """Count the docstrings that begin with "Give"."""
    documented = [(path, *each) for path, text in sources.items() for each in _docstrings(text)]
    hits = [f"{path}:{line}" for path, line, text in documented if text.split(maxsplit=1)[:1] in (["Give"], ["Gives"])]
    return Share(tuple(hits), len(documented))


def count_comments(sources: dict[str, str]) -> float:
    """Count the comments per 100 lines."""
    lines = sum(text.count("\n") for text in sources.values())
    comments = sum(
        token.type == tokenize.COMMENT
        for text in sources.values()
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )
    return 100 * comments / lines if lines else 0.0


def _functions(text: str) -> Iterator[_Function]:
    return (each for each in ast.walk(ast.parse(text)) if isinstance(each, _Function))


def _begins_with_participle(name: str) -> bool:
    return not name.startswith("__") and is_participle(name.strip("_").split("_")[0])


def _is_bare_participle(name: str) -> bool:
    first, *others = [word.lower() for word in _WORD.findall(name)] or [""]
    return is_participle(first) and all(word in PARTICLES for word in others)


def _modules(path: str) -> Iterator[str]:
    """Name a module and the packages around it."""
    module = Path(path)
    yield from (str(each) for each in module.parents if each.name)
    if module.stem != "__init__":
        yield path


def _docstrings(text: str) -> Iterator[tuple[int, str]]:
    for each in ast.walk(ast.parse(text)):
        if isinstance(each, _Documented) and (docstring := ast.get_docstring(each)):
            yield each.body[0].lineno, docstring
