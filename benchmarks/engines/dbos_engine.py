"""DBOS on SQLite in WAL mode; runs in a virtual environment of its own.

Called as `dbos_engine.py SCENARIO FOLDER COUNT`; prints one JSON document as its last line.
"""

import importlib
import json
import logging
import os
import resource
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

dbos: Any = importlib.import_module("dbos")
DBOS: Any = dbos.DBOS
IDLE_SECONDS = 3.0
WAKES = 5
WEEK = 7 * 24 * 3600

times: list[float] = []


def note(number: int) -> None:
    """A step that does nothing, and notes when."""
    del number
    times.append(time.perf_counter())


def say(number: int) -> None:
    """A step that says its number."""
    os.write(1, f"s{number}\n".encode())


def nothing() -> None:
    """A step that does nothing."""


def ask() -> str:
    """A workflow that waits for an answer."""
    return str(DBOS.recv("answer", WEEK))


note_step, say_step, no_step = (DBOS.step(name=each.__name__)(each) for each in (note, say, nothing))


def noting(count: int) -> None:
    """Take many steps."""
    for number in range(count):
        note_step(number)


def saying(count: int) -> None:
    """Take steps and say each."""
    for number in range(1, count + 1):
        say_step(number)


def child() -> None:
    """A workflow of one step."""
    no_step()


def parent(count: int) -> None:
    """Start many workflows and wait for them."""
    handles = [DBOS.start_workflow(child_flow) for _ in range(count)]
    for handle in handles:
        handle.get_result()


noting_flow, saying_flow, child_flow, parent_flow, ask_flow = (
    DBOS.workflow(name=each.__name__)(each) for each in (noting, saying, child, parent, ask)
)


def launch(folder: Path) -> None:
    """Open the database, in WAL mode: that is twice as fast as what DBOS chooses, at the same durability."""
    path = folder / "dbos.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    settings = {"name": "benchmark", "system_database_url": f"sqlite:///{path}", "log_level": "ERROR"}
    DBOS(config={**settings, "application_version": "1"})
    DBOS.launch()


def steps(folder: Path, count: int) -> dict[str, Any]:
    """Take many steps; give when each began."""
    launch(folder)
    noting_flow(count)
    return {"times": [*times, time.perf_counter()]}


def fan_out(folder: Path, count: int) -> dict[str, Any]:
    """Run many child workflows."""
    launch(folder)
    began = time.perf_counter()
    parent_flow(count)
    return {"seconds": time.perf_counter() - began}


def waiting(folder: Path, count: int) -> dict[str, Any]:
    """Let many workflows wait for a message; give what that costs and how fast one wakes."""
    launch(folder)
    DBOS.start_workflow(ask_flow)
    before = _memory()
    handles = [DBOS.start_workflow(ask_flow) for _ in range(count)]
    time.sleep(2)
    memory = (_memory() - before) / count
    used = time.process_time()
    time.sleep(IDLE_SECONDS)
    idle = (time.process_time() - used) / IDLE_SECONDS
    wakes: list[float] = []
    for handle in handles[:WAKES]:
        DBOS.send(handle.workflow_id, "yes", "answer")
        began = time.perf_counter()
        handle.get_result()
        wakes.append(time.perf_counter() - began)
    return {"memory": memory, "idle": idle, "wakes": wakes}


def _memory() -> int:
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def work(folder: Path, count: int) -> dict[str, Any]:
    """Take steps and say each; started again, DBOS goes on by itself."""
    begun = (folder / "dbos.db").exists()
    launch(folder)
    if begun:
        for status in DBOS.list_workflows():
            DBOS.retrieve_workflow(status.workflow_id).get_result()
    else:
        saying_flow(count)
    return {}


SCENARIOS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "steps": steps,
    "fan_out": fan_out,
    "waiting": waiting,
    "work": work,
}

if __name__ == "__main__":
    logging.disable(logging.WARNING)
    answer = SCENARIOS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
    sys.stdout.flush()
    # The threads that wait would keep the process for a week.
    os._exit(0)
