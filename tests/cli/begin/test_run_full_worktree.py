"""A disk that has no room for a work tree: the run says so, waits, and goes on once there is room."""

from support.cli.small_disk import run_process, with_file_limit
from support.cli.team import Team

WORK = "name: NAME\nsteps:\n  - {name: look, command: wc -c < big.txt, output: size}\n"
LIMIT = 600_000


def test_a_work_tree_that_finds_no_room_blocks_the_run_and_a_resume_ends_it(team: Team) -> None:
    (team.root / "big.txt").write_bytes(b"0123456789abcde\n" * 100_000)
    team.add("work", WORK)
    before = team.git("status", "--porcelain=v1", "--branch")
    ran = with_file_limit(team.runs, LIMIT, "run", "work")
    assert ran.code == 3
    assert "work-1 needs you: `git read-tree` failed" in ran.out + ran.err
    assert "raise the limit on file size (`ulimit -f`), then try again" in ran.out + ran.err
    assert team.git("status", "--porcelain=v1", "--branch") == before
    resumed = run_process(team.runs, "resume", "work-1", "--json")
    assert (resumed.code, resumed.json["outputs"]["size"].strip()) == (0, "1600000")
