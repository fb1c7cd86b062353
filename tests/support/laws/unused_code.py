"""Finds the public definitions of `src` that nothing in `src` uses; what only tests use is unused.

A name of a module is used where another module imports it (linters see that imports are used), where it is read through
its module, where a text such as `handrail.module:name` says what to load, or where its own module reads it outside its
definition. A method is used where an attribute of its name is read: whose attribute that is cannot be told without
types.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = "handrail"
LEFT_OUT = "testing"
"""The package that outsiders and our own tests use: it is neither looked into nor a user of the rest."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef
_WORD = re.compile(r"[A-Za-z_]\w*")
_LOADED = re.compile(rf"({PACKAGE}[.\w]*):(\w+)")


@dataclass(frozen=True, slots=True)
class _Module:
    name: str
    tree: ast.Module
    nodes: list[ast.AST]
    names: "Counter[str]"
    """The names that it reads, also in annotations that stand in quotes."""


@dataclass(slots=True)
class _Uses:
    imported: set[str] = field(default_factory=set[str])
    """Names that are used in other modules, with their module: `handrail.errors.NotFound`."""
    attributes: "Counter[str]" = field(default_factory=Counter[str])


def unused_definitions(source: Path) -> list[str]:
    """Name them as `handrail.module.name` or `handrail.module.Class.name`."""
    paths = [path for path in sorted(source.rglob("*.py")) if path.relative_to(source).parts[0] != LEFT_OUT]
    modules = [_read(path, source) for path in paths]
    known, uses = {each.name for each in modules}, _Uses()
    for module in modules:
        uses.imported.update(_imported(module.nodes, known))
        uses.attributes.update(_attributes(module.nodes))
    return [name for module in modules for name in _unused(module, uses)]


def _read(path: Path, source: Path) -> _Module:
    tree = ast.parse(path.read_text("utf-8"))
    name = ".".join((PACKAGE, *path.relative_to(source).with_suffix("").parts)).removesuffix(".__init__")
    nodes = list(ast.walk(tree))
    return _Module(name, tree, nodes, Counter(_names(nodes)))


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for each in nodes:
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            yield each.id
        for types in _types(each):
            quoted = (part.value for part in ast.walk(types) if isinstance(part, ast.Constant))
            yield from (word for text in quoted if isinstance(text, str) for word in _WORD.findall(text))


def _types(node: ast.AST) -> Iterator[ast.expr]:
    """Where the name of a type may stand in quotes."""
    match node:
        case ast.arg(annotation=ast.expr() as types) | ast.AnnAssign(annotation=types):
            yield types
        case ast.FunctionDef(returns=ast.expr() as types) | ast.AsyncFunctionDef(returns=ast.expr() as types):
            yield types
        case ast.Subscript(slice=types):
            yield types
        case ast.Call(func=ast.Name("cast"), args=[types, *_]):
            yield types
        case _:
            pass


def _attributes(nodes: Iterable[ast.AST]) -> Iterator[str]:
    return (each.attr for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load))


def _imported(nodes: list[ast.AST], known: set[str]) -> Iterator[str]:
    imports = [each for each in nodes if isinstance(each, ast.ImportFrom) and each.module]
    named = {alias.asname or alias.name: f"{each.module}.{alias.name}" for each in imports for alias in each.names}
    yield from named.values()
    for each in nodes:
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and named.get(each.value.id) in known:
            yield f"{named[each.value.id]}.{each.attr}"
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and (to := _LOADED.fullmatch(each.value)):
            yield f"{to[1]}.{to[2]}"


def _unused(module: _Module, uses: _Uses) -> Iterator[str]:
    for name, node in _definitions(module.tree):
        if f"{module.name}.{name}" not in uses.imported and not _is_read(name, node, module):
            yield f"{module.name}.{name}"
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(method, _Function) and not _is_used(method, uses):
                yield f"{module.name}.{name}.{method.name}"


def _is_read(name: str, node: ast.stmt, module: _Module) -> bool:
    own = Counter(_names(ast.walk(node)))[name] if module.names[name] and isinstance(node, _Definition) else 0
    return module.names[name] > own


def _is_used(method: "ast.FunctionDef | ast.AsyncFunctionDef", uses: _Uses) -> bool:
    name, count = method.name, uses.attributes[method.name]
    # Few methods call themselves, and none does so often.
    return name.startswith("_") or count > 9 or count > Counter(_attributes(ast.walk(method)))[name]


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for each in tree.body:
        if isinstance(each, _Definition):
            names = [each.name]
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        else:
            names = []
        yield from ((name, each) for name in names if not name.startswith("__"))
