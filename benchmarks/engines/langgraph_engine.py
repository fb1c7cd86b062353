"""LangGraph with its SqliteSaver, `durability="sync"`; runs in a virtual environment of its own.

Called as `langgraph_engine.py SCENARIO FOLDER COUNT`; prints one JSON document as its last line.
"""

import importlib
import json
import os
import resource
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

graphs: Any = importlib.import_module("langgraph.graph")
types: Any = importlib.import_module("langgraph.types")
sqlite_saver: Any = importlib.import_module("langgraph.checkpoint.sqlite")
WAKES = 20


class Count(TypedDict):
    """How many steps were taken."""

    taken: int


def _first(left: int, _: int) -> int:
    return left


class Shared(TypedDict):
    """A value that children may all return."""

    taken: Annotated[int, _first]


def saver(folder: Path) -> Any:
    """Open the checkpoints; they are in WAL mode, and SQLite syncs each commit."""
    connection = sqlite3.connect(folder / "langgraph.db", check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    return sqlite_saver.SqliteSaver(connection)


def config(thread: str, limit: int = 25) -> dict[str, Any]:
    """Name a run."""
    return {"configurable": {"thread_id": thread}, "recursion_limit": limit}


def looping(folder: Path, count: int, on_step: Callable[[int], None]) -> Any:
    """Give a graph whose one node is taken many times."""

    def step(state: Count) -> Count:
        on_step(state["taken"] + 1)
        return {"taken": state["taken"] + 1}

    def more(state: Count) -> str:
        return "step" if state["taken"] < count else str(graphs.END)

    graph = graphs.StateGraph(Count)
    graph.add_node("step", step)
    graph.add_edge(graphs.START, "step")
    graph.add_conditional_edges("step", more)
    return graph.compile(checkpointer=saver(folder))


def steps(folder: Path, count: int) -> dict[str, Any]:
    """Take many steps; give when each began."""
    times: list[float] = []
    graph = looping(folder, count, lambda _: times.append(time.perf_counter()))
    graph.invoke({"taken": 0}, config("t", count + 10), durability="sync")
    return {"times": [*times, time.perf_counter()]}


def fan_out(folder: Path, count: int) -> dict[str, Any]:
    """Send to many subgraphs of one step each."""

    def once(_: Shared) -> Shared:
        return {"taken": 1}

    def send(_: Shared) -> list[Any]:
        return [types.Send("child", {"taken": 0}) for _ in range(count)]

    child = graphs.StateGraph(Shared)
    child.add_node("only", once)
    child.add_edge(graphs.START, "only")
    parent = graphs.StateGraph(Shared)
    parent.add_node("child", child.compile())
    parent.add_conditional_edges(graphs.START, send)
    graph = parent.compile(checkpointer=saver(folder))
    began = time.perf_counter()
    graph.invoke({"taken": 0}, config("t"), durability="sync")
    return {"seconds": time.perf_counter() - began}


def waiting(folder: Path, count: int) -> dict[str, Any]:
    """Interrupt many threads; nobody waits for them, the caller comes back with the answer."""

    def ask(_: Count) -> Count:
        return {"taken": types.interrupt("ok?")}

    graph = graphs.StateGraph(Count)
    graph.add_node("ask", ask)
    graph.add_edge(graphs.START, "ask")
    compiled = graph.compile(checkpointer=saver(folder))
    compiled.invoke({"taken": 0}, config("warm"), durability="sync")
    before = _memory()
    for number in range(count):
        compiled.invoke({"taken": 0}, config(f"t{number}"), durability="sync")
    memory = (_memory() - before) / count
    wakes: list[float] = []
    for number in range(min(WAKES, count)):
        began = time.perf_counter()
        compiled.invoke(types.Command(resume=1), config(f"t{number}"), durability="sync")
        wakes.append(time.perf_counter() - began)
    return {"memory": memory, "idle": 0.0, "wakes": wakes}


def _memory() -> int:
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def work(folder: Path, count: int) -> dict[str, Any]:
    """Take steps and say each; started again, go on with what was left."""
    graph = looping(folder, count, lambda number: (os.write(1, f"s{number}\n".encode()), None)[1])
    begun = graph.get_state(config("t")).next
    graph.invoke(None if begun else {"taken": 0}, config("t", count + 10), durability="sync")
    return {}


SCENARIOS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "steps": steps,
    "fan_out": fan_out,
    "waiting": waiting,
    "work": work,
}

if __name__ == "__main__":
    print(json.dumps(SCENARIOS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))))
