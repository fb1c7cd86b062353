from support.sources.fixtures import main, store, work

__all__ = ["main", "store", "work"]
