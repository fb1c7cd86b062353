"""Imports modules when they are first used.

A run that never meets a guided step, a review loop or a WorkRail file should not pay for loading their code, and the
imports of a module should still be at its top, for readers and for the layer contracts. So a module says

    if TYPE_CHECKING:
        from handrail.engine.guided import loops
    else:
        loops = late_import("handrail.engine.guided.loops")

and uses `loops.enter(...)` as usual.
"""

from importlib import import_module


class LateModule:
    """Stands for a module until one of its names is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        """Import the module, and cache the attribute that was asked for."""
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


def late_import(name: str) -> LateModule:
    """Return a stand-in for a module, which is imported with the first use of one of its names."""
    return LateModule(name)
