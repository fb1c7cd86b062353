"""Imports what a server over stdio uses of the SDK, in little more than half of the time of the whole.

The SDK declares 450 models, three for every message, and its packages import its client, its web servers and all they
need: nearly all of the time until a client is greeted. Here models are built when they are first used, and packages
run when one of their own names is. It is a saving only: where a release of the SDK or of pydantic does not go along,
the whole is imported as ever.
"""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import cast

from pydantic import BaseModel, TypeAdapter

_PACKAGES = ("mcp", "mcp.server")
"""Packages that import far more than the modules below do."""
_MODULES = ("mcp.types", "mcp.server.context", "mcp.server.lowlevel.server", "mcp.server.stdio")
_NAMES = ("mcp", "mcp_types")
"""What everything of the SDK is called."""
_WEB_SERVER = "uvicorn"
"""A library below the SDK adapts it where it is installed, and does without it elsewhere."""
_DEFERS = "_defer_build"
"""Whether an adapter is built late; the models of the SDK say so by their configuration, its unions have none."""


def load_sdk() -> None:
    """Import what a server over stdio uses of the SDK."""
    # Nothing that an import leaves behind is garbage: looking for it takes a tenth of the time.
    gc.disable()
    try:
        with _late_models(), _without(_WEB_SERVER):
            _import_lean()
    except Exception:  # noqa: BLE001 - a saving must never be why a server does not start, whatever it met
        _forget()
    gc.freeze()
    gc.enable()


class LatePackage(ModuleType):
    """A package that runs when one of its own names is first asked for; its modules can be imported before."""

    def __getattr__(self, name: str) -> object:
        """Run the package, which makes it like any other."""
        spec = self.__spec__
        if name.startswith("__") or spec is None or spec.loader is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        super().__setattr__("__class__", ModuleType)
        spec.loader.exec_module(self)
        return getattr(self, name)


def _import_lean() -> None:
    if "mcp" in sys.modules:
        return
    for name in _PACKAGES:
        _leave_for_later(name)
    for name in _MODULES:
        import_module(name)


def _leave_for_later(name: str) -> None:
    spec = find_spec(name)
    if spec is None:
        return
    package = module_from_spec(spec)
    package.__class__ = LatePackage
    sys.modules[name] = package
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, package)


@contextmanager
def _late_models() -> Generator[None]:
    """Let the models that are declared meanwhile be built when they are first used."""
    BaseModel.model_config["defer_build"] = True
    adapters = vars(TypeAdapter).get(_DEFERS)
    if adapters is not None:
        setattr(TypeAdapter, _DEFERS, True)
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
        if adapters is not None:
            setattr(TypeAdapter, _DEFERS, adapters)


@contextmanager
def _without(name: str) -> Generator[None]:
    """Let it look meanwhile as if a package was not installed."""
    if name in sys.modules:
        yield
        return
    # To the import system, None is a module that cannot be found.
    cast("dict[str, ModuleType | None]", sys.modules)[name] = None
    try:
        yield
    finally:
        sys.modules.pop(name, None)


def _forget() -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] in _NAMES:
            del sys.modules[name]
