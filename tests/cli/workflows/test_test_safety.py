"""What `handrail test` leaves alone: the user's own things and their trust; and no process is left of it."""

import signal
import subprocess
from pathlib import Path

from inline_snapshot import snapshot

from support.cli.notes_workflow import GOOD, NOTES, notes, put, said
from support.cli.running import HANDRAIL, until
from support.cli.team import Team

__all__ = ["notes"]


def test_nothing_of_the_users_is_touched(notes: Team) -> None:
    put(notes, GOOD)
    notes.git("add", "-A")
    notes.git("commit", "-qm", "Tests")
    before = (notes.git("status", "--porcelain"), notes.git("worktree", "list"), notes.git("for-each-ref"))
    said(notes)
    assert (notes.git("status", "--porcelain"), notes.git("worktree", "list"), notes.git("for-each-ref")) == before
    assert notes.json("status")["runs"] == []


def test_a_workflow_without_trust_is_not_tested_unless_it_is_asked_for(notes: Team) -> None:
    put(notes, GOOD)
    notes.runs.shop.workflow("notes", NOTES + "    timeout: 5m\n")
    assert said(notes, code=3) == snapshot("""\
error: the workflow NOTES/workflow.yaml needs your trust before it runs: it has changed since you trusted it
next: read it, then: handrail trust NOTES/workflow.yaml, or test it as it is now: handrail test --trust
""")
    assert "1 passed" in said(notes, "--trust")
    assert "needs your trust" in notes.text("run", "notes", "--input", "version=1", code=3)


def test_changing_a_test_changes_neither_trust_nor_the_pinned_version(notes: Team) -> None:
    pinned = notes.json("compile", "notes")
    put(notes, GOOD)
    assert notes.json("compile", "notes") == pinned
    assert notes.json("trust", "notes", "--show")["state"] == "trusted"


def test_ctrl_c_ends_what_the_scenarios_started(notes: Team, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    put(notes, GOOD.replace("{files:", f"{{run: 'echo $$ > {mark}; exec sleep 300', files:"))
    process = subprocess.Popen(
        [HANDRAIL, "test"], cwd=notes.root, env=notes.runs.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until(lambda: mark.exists() and mark.read_text().strip() != "")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.decode().strip()) == (130, "stopped")
    until(lambda: not Path(f"/proc/{mark.read_text().strip()}").exists())
