"""`handrail init` on a terminal: it shows, asks once, lets the draft be edited, and can be interrupted."""

import os
import pty
import select
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cli.fresh import GREEN, NOTHING, RED, Fresh
from support.cli.running import HANDRAIL, until

QUESTION = "Write this? [Y/n/e] "
RED_QUESTION = "Write this? [Y/k/n/e] "


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, room: Fresh, *args: str, **environ: str) -> None:
        main, own = pty.openpty()
        env = {**os.environ, "HANDRAIL_HOME": str(room.shop.home), "TERM": "xterm", **environ}
        self.process = subprocess.Popen(
            [HANDRAIL, *args], cwd=room.root, env=env, stdin=own, stdout=own, stderr=own, start_new_session=True
        )
        os.close(own)
        self.main = main
        self.screen = ""

    def type_after(self, awaited: str, keys: str) -> None:
        """Wait until something is on the screen, then type; what was awaited counts once."""
        until(lambda: self._read() and awaited in self.screen)
        self.screen = self.screen.partition(awaited)[2]
        os.write(self.main, keys.encode())

    def end(self) -> tuple[int, str]:
        """Wait for the end; give the exit code and what was said since the last awaited text."""
        until(lambda: self._read() and self.process.poll() is not None)
        self._read()
        os.close(self.main)
        return self.process.wait(), self.screen.replace("\r\n", "\n")

    def _read(self) -> bool:
        while select.select([self.main], [], [], 0.02)[0]:
            try:
                data = os.read(self.main, 4096)
            except OSError:
                return True
            if not data:
                return True
            self.screen += data.decode("utf-8", "replace")
        return True


@pytest.mark.parametrize("answer", ["", "y", "YES"])
def test_yes_writes_what_was_shown(fresh: Fresh, answer: str) -> None:
    fresh.commit(Makefile=GREEN)
    terminal = Terminal(fresh, "init")
    terminal.type_after("green on main", "")
    terminal.type_after(QUESTION, f"{answer}\n")
    code, text = terminal.end()
    assert code == 0
    assert "(trusted: you wrote them)" in text
    assert 'test = "make test"' in fresh.config()


@pytest.mark.parametrize("answer", ["yep", "yn", "never", "ye"])
def test_an_answer_that_was_not_offered_asks_again(fresh: Fresh, answer: str) -> None:
    fresh.commit(Makefile=GREEN)
    terminal = Terminal(fresh, "init", "--no-try")
    terminal.type_after(QUESTION, f"{answer}\n")
    terminal.type_after(QUESTION, "\x04")
    assert terminal.end()[0] == 130
    assert not (fresh.root / ".handrail").exists()


def test_no_writes_nothing(fresh: Fresh) -> None:
    fresh.commit(Makefile=GREEN)
    terminal = Terminal(fresh, "init", "--no-try")
    terminal.type_after(QUESTION, "n\n")
    code, text = terminal.end()
    assert (code, "nothing was written" in text) == (0, True)
    assert not (fresh.root / ".handrail").exists()


def test_a_red_check_is_kept_only_by_a_key_of_its_own(fresh: Fresh) -> None:
    fresh.commit(Makefile=RED)
    terminal = Terminal(fresh, "init")
    terminal.type_after("test is red on main: exit 2", "")
    terminal.type_after("Enter leaves test out; k keeps it although it does not pass here", "")
    terminal.type_after(RED_QUESTION, "k\n")
    assert terminal.end()[0] == 0
    assert '\ntest = "make test"\n' in fresh.config()


def test_enter_leaves_a_red_check_out_and_the_next_step_says_so(fresh: Fresh) -> None:
    fresh.commit(Makefile=RED)
    terminal = Terminal(fresh, "init")
    terminal.type_after(RED_QUESTION, "\n")
    code, text = terminal.end()
    assert code == 0
    assert "Left out    test: make test (red on main)" in text
    assert "Next        test was left out and runs will not check it" in text
    assert '\n# left out by handrail init, red on main: test = "make test"\n' in fresh.config()


def test_the_draft_can_be_edited_and_what_is_written_is_trusted(fresh: Fresh, tmp_path: Path) -> None:
    fresh.commit(Makefile=RED)
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf \'[checks]\\nquick = "true"\\n\' > "$1"\n', "utf-8")
    editor.chmod(0o755)
    terminal = Terminal(fresh, "init", EDITOR=str(editor), VISUAL=str(editor))
    terminal.type_after(RED_QUESTION, "e\n")
    terminal.type_after(RED_QUESTION, "y\n")
    assert terminal.end()[0] == 0
    assert fresh.config() == '[checks]\nquick = "true"\n'
    assert fresh.shop.json("trust", ".handrail/config.toml", "--show")["trusted"]


def test_an_edit_that_is_not_toml_is_said_and_asked_again(fresh: Fresh, tmp_path: Path) -> None:
    fresh.commit(Makefile=GREEN)
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho '[[' > \"$1\"\n", "utf-8")
    editor.chmod(0o755)
    terminal = Terminal(fresh, "init", "--no-try", EDITOR=str(editor), VISUAL=str(editor))
    terminal.type_after(QUESTION, "e\n")
    terminal.type_after("this is not valid TOML", "")
    terminal.type_after(QUESTION, "y\n")
    assert terminal.end()[0] == 0
    assert 'test = "make test"' in fresh.config()


def _ctrl_c(terminal: Terminal) -> None:
    os.killpg(terminal.process.pid, signal.SIGINT)


def _terminate(terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGTERM)


@pytest.mark.parametrize("interrupt", [_ctrl_c, _terminate])
def test_an_interruption_leaves_nothing_behind(fresh: Fresh, interrupt: Callable[[Terminal], None]) -> None:
    pid = fresh.root / "pid"
    fresh.commit(Makefile=f"test:\n\t@echo $$$$ > {pid}; exec sleep 300\n")
    terminal = Terminal(fresh, "init")
    until(lambda: pid.is_file() and pid.read_text().strip() != "")
    interrupt(terminal)
    assert terminal.end()[0] == 130
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    assert not (fresh.root / ".handrail").exists()
    assert fresh.traces() == NOTHING


def test_an_interruption_at_the_question_writes_nothing(fresh: Fresh) -> None:
    fresh.commit(Makefile=GREEN)
    terminal = Terminal(fresh, "init", "--no-try")
    terminal.type_after(QUESTION, "")
    _ctrl_c(terminal)
    assert terminal.end()[0] == 130
    assert not (fresh.root / ".handrail").exists()


def test_what_a_killed_trial_left_is_removed_by_the_next_one(fresh: Fresh) -> None:
    pid, ready = fresh.root / "pid", fresh.root / "ready"
    fresh.commit(Makefile=f"test:\n\t@test -e {ready} || {{ echo $$$$ > {pid}; exec sleep 300; }}\n")
    terminal = Terminal(fresh, "init")
    until(lambda: pid.is_file() and pid.read_text().strip() != "")
    terminal.process.kill()
    terminal.end()
    assert fresh.traces()["worktrees"] != []
    ready.touch()
    assert fresh.init().exit_code == 0
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    assert fresh.traces() == NOTHING
