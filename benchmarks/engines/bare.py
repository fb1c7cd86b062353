"""The limit: one durable row per step in SQLite, by hand.

Called as `bare.py steps FOLDER COUNT`; prints one JSON document.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any, cast

import apsw

ROW = b'{"address":"s1","began":2,"details":{},"exit_code":0,"kind":"step_ended","output":"","status":"succeeded"}' * 3


def steps(folder: Path, count: int) -> dict[str, Any]:
    """Append a row per step; give the time of each."""
    connection = apsw.Connection(str(folder / "bare.db"))
    execute = cast("Any", connection).execute
    for line in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"):
        execute(line).fetchall()
    execute("CREATE TABLE events (run TEXT, seq INTEGER, kind TEXT, data BLOB, PRIMARY KEY (run, seq))")
    times = [time.perf_counter()]
    for seq in range(count):
        execute("BEGIN IMMEDIATE")
        execute("INSERT INTO events VALUES (?, ?, ?, ?)", ("run-1", seq, "step_ended", ROW))
        execute("COMMIT")
        times.append(time.perf_counter())
    connection.close()
    return {"times": times}


if __name__ == "__main__":
    print(json.dumps(steps(Path(sys.argv[2]), int(sys.argv[3]))))
