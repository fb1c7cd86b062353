"""The process table, where a process changes while it is looked at."""

import subprocess
from pathlib import Path

import pytest

from handrail.processes import process_table as proctable
from handrail.processes.process_table import marked


@pytest.mark.skipif(not proctable.LINUX, reason="/proc is Linux's")
def test_a_process_that_becomes_another_program_again_and_again_is_found_by_its_mark(tmp_path: Path) -> None:
    script = tmp_path / "again"
    script.write_text('exec /bin/sh "$0"\n')
    with subprocess.Popen(
        ["/bin/sh", str(script)], env={"PATH": "/usr/bin:/bin", "SOME_MARK": str(tmp_path)}
    ) as process:
        try:
            seen = [process.pid in marked("SOME_MARK", str(tmp_path)) for _ in range(60)]
        finally:
            process.kill()
    assert all(seen)
