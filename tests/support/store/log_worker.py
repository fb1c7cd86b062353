"""What another process does with a log: run as a script with a command, a folder and the command's words."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

from handrail.errors import StorageFault
from handrail.ports.log import Append, Holder, NewEvent
from handrail.store.sqlite.log import SqliteLog, open_log
from handrail.testing.conformance.log_worlds import leased, record


def start(command: str, folder: Path, *words: str) -> "subprocess.Popen[str]":
    """Start a worker; its lines can be read from `stdout`, and it waits for the end of `stdin` where it waits."""
    return subprocess.Popen(
        [sys.executable, __file__, command, str(folder), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(worker: "subprocess.Popen[str]") -> str:
    """Give the next line that a worker says."""
    assert worker.stdout is not None
    return worker.stdout.readline().strip()


def end(worker: "subprocess.Popen[str]") -> list[str]:
    """Let a worker finish and give what else it said."""
    # Through the same reader as the lines before: `communicate` would pass over what that has in its buffer.
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.close()
    with worker.stdout as lines:
        said = lines.read().splitlines()
    worker.wait()
    return said


def kill(worker: "subprocess.Popen[str]") -> list[str]:
    """Kill a worker as the kernel would, and give what else it said."""
    worker.send_signal(signal.SIGKILL)
    return end(worker)


def _say(*words: object) -> None:
    sys.stdout.write(" ".join(str(word) for word in words) + "\n")
    sys.stdout.flush()


def _append(log: SqliteLog, stream: str, count: str) -> None:
    lease = leased(log, stream, "worker")
    for number in range(int(count)):
        _say(record(log, lease, f"{number} " + "x" * 300)[-1].seq)


def _send(log: SqliteLog, stream: str, name: str) -> None:
    for number in range(100):
        log.send(stream, f"{name}-{number}", name.encode())
        log.send(stream, f"shared-{number}", name.encode())


def _hold(log: SqliteLog, stream: str) -> None:
    lease = log.acquire(stream, "worker")
    _say(*(("refused", lease.pid) if isinstance(lease, Holder) else ("held", lease.epoch)))
    sys.stdin.read()


def _fork(log: SqliteLog, stream: str) -> None:
    leased(log, stream, "worker")
    child = os.fork()
    if child == 0:
        _say("child", log.last(stream).seq)
        sys.stdin.read()
    os._exit(0)


def _spawn(log: SqliteLog, stream: str) -> None:
    leased(log, stream, "worker")
    subprocess.Popen([sys.executable, "-c", "print('child', flush=True); input()"])
    _say("spawned")
    os._exit(0)


def _fill(log: SqliteLog, stream: str) -> None:
    lease = leased(log, stream, "worker")
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
    try:
        while True:
            _say(record(log, lease, "x" * 20_000)[-1].seq)
    except StorageFault as fault:
        _say(fault.code)
        _say(fault.next_step)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    _say(record(log, lease, "resumed")[-1].seq)


def _crash(folder: Path, stream: str, point: str) -> None:
    def die(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    log = open_log(folder, on_point=die)
    log.append([Append(stream, 0, (NewEvent("noted", 1, b"x"),), blobs=(b"blob",))], [])


def _unprivileged(folder: Path) -> None:
    open_log(folder / "warm").close()
    if os.geteuid() == 0:
        os.setuid(65534)
    try:
        open_log(folder / "closed")
    except StorageFault as fault:
        _say(fault.code)
        _say(fault.message)
        _say(fault.next_step)


if __name__ == "__main__":
    command, folder, *words = sys.argv[1:]
    if command == "crash":
        _crash(Path(folder), *words)
    elif command == "unprivileged":
        _unprivileged(Path(folder))
    else:
        commands = {
            "append": _append,
            "send": _send,
            "hold": _hold,
            "fork": _fork,
            "spawn": _spawn,
            "fill": _fill,
        }
        commands[command](open_log(Path(folder)), *words)
