"""The process table, where a process changes while it is looked at."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from handrail.processes import process_table as proctable
from handrail.processes.process_table import find_marked, initial_environment, lineage, outputs_of
from support.runtime.room import until


@pytest.mark.skipif(not proctable.LINUX, reason="/proc is Linux's")
def test_a_process_that_becomes_another_program_again_and_again_is_found_by_its_mark(tmp_path: Path) -> None:
    script = tmp_path / "again"
    script.write_text('exec /bin/sh "$0"\n')
    with subprocess.Popen(
        ["/bin/sh", str(script)], env={"PATH": "/usr/bin:/bin", "SOME_MARK": str(tmp_path)}
    ) as process:
        try:
            seen = [process.pid in find_marked("SOME_MARK", str(tmp_path)) for _ in range(60)]
        finally:
            process.kill()
    assert all(seen)


def test_a_process_descends_from_those_that_started_it() -> None:
    above = [row.pid for row in lineage(os.getpid())]
    assert above[:2] == [os.getpid(), os.getppid()]
    assert len(above) == len(set(above))


def test_nothing_is_above_a_process_that_is_gone() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert not list(lineage(process.pid))


@pytest.mark.skipif(not proctable.LINUX, reason="/proc is Linux's")
def test_a_process_tells_what_it_was_started_with_and_where_it_writes(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        words = ["sh", "-c", "unset SOME_MARK; export OTHER=1; echo; read line"]
        process = subprocess.Popen(words, env={"SOME_MARK": "x=y"}, stdin=subprocess.PIPE, stdout=out, stderr=out)
    with process:
        # The kernel shows the environment a moment after the process was started.
        asyncio.run(until(lambda: (tmp_path / "out").stat().st_size > 0))
        (row,) = (each for each in lineage(process.pid) if each.pid == process.pid)
        try:
            assert initial_environment(row) == {"SOME_MARK": "x=y"}
            assert outputs_of(row) == (str(tmp_path / "out"),) * 2
        finally:
            process.kill()
