"""Runs a command on a busy machine: `busy_machine.py COMMAND ...`, with the exit code of the command.

For each processor a process computes without end. They end with this one in every case, since each reads a pipe of it.
"""

import os
import subprocess
import sys

BURNER = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
while True:
    pass
"""


def main(command: list[str]) -> int:
    """Run a command beside as many burners as there are processors."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    # A burner that has lost the pipe reads its end; a session of its own keeps the Ctrl-C of a terminal from it.
    burners = [
        subprocess.Popen([sys.executable, "-c", BURNER], stdin=subprocess.PIPE, start_new_session=True)
        for _ in range(count)
    ]
    try:
        return _run(command)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def _run(command: list[str]) -> int:
    process = subprocess.Popen(command)
    try:
        return process.wait()
    except KeyboardInterrupt:
        # The command has read the same Ctrl-C, and ends in its own way; a second one ends the burners at once.
        return process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
