"""What other processes do to a database: run as a script, `send FOLDER RUN NAME` or `drive FOLDER`."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from handrail.engine.state.codec import encode_state
from handrail.runtime.history import state_before
from handrail.store.sqlite.log import open_log
from handrail.wiring.system import make_writer
from support.runtime.room import supervisor_of

MESSAGES = 100


def send(folder: Path, run: str, name: str) -> None:
    """Ask a run to go back to its beginning again and again; each request is made twice and counts once."""
    log = open_log(folder)
    writer = make_writer(log)
    before = log.put_blob(encode_state(state_before(log, run, 2)))
    for number in range(MESSAGES):
        by = f"{name}-{number}"
        assert writer.send(run, by, "rewind", to="a", seq=2, state=before, crossed=[], by=by)
        assert not writer.send(run, by, "rewind", to="a", seq=2, state=before, crossed=[], by=by)
    log.close()


def drive(folder: Path) -> None:
    """Drive whatever can move."""
    log = open_log(folder)
    asyncio.run(supervisor_of(log, folder, {}).run_until_idle())
    log.close()


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(Path(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        drive(Path(sys.argv[2]))
