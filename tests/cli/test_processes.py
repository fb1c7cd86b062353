"""The installed command as a process of its own: terminals, pipes and encodings."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from support.cli.shop import BROKEN, Shop

HANDRAIL = str(Path(sys.executable).parent / "handrail")
PYTHON = "def resolve(context):\n    return {'name': 'py', 'steps': [{'name': 'a', 'prompt': 'Do it.'}]}\n"


def environ(shop: Shop, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HANDRAIL_HOME": str(shop.home), "TERM": "xterm", **more}


def on_terminal(shop: Shop, *args: str, typed: str = "", **more: str) -> tuple[int, str]:
    """Run a command on a terminal of its own and give its exit code and what it shows."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [HANDRAIL, *args], cwd=shop.root, env=environ(shop, **more), stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    os.write(master, typed.encode())
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    return process.wait(timeout=60), shown.decode()


def test_on_a_terminal_the_severity_has_a_colour(shop: Shop) -> None:
    shop.workflow("oops", BROKEN)
    code, shown = on_terminal(shop, "validate", "oops")
    assert code == 4
    assert "\x1b[31m\x1b[1merror\x1b[0m" in shown


def test_no_color_is_honoured_on_a_terminal(shop: Shop) -> None:
    shop.workflow("oops", BROKEN)
    code, shown = on_terminal(shop, "validate", "oops", NO_COLOR="1")
    assert code == 4
    assert "\x1b" not in shown


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 3)])
def test_on_a_terminal_trust_asks(shop: Shop, answer: str, code: int) -> None:
    shop.write(".handrail/workflows/py/workflow.py", PYTHON)
    ended, shown = on_terminal(shop, "trust", "py", typed=answer)
    assert ended == code
    assert "Trust this content? [y/N]" in shown
    assert shop.json("trust", "py", "--show")["trusted"] is (code == 0)


def test_make_run_calls_work_from_any_folder(shop: Shop) -> None:
    for args in (["list"], ["validate", "--library"]):
        ran = subprocess.run(
            [HANDRAIL, *args], cwd=shop.root, env=environ(shop), capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, "")


def test_names_with_wide_characters_survive_a_terminal_without_unicode(shop: Shop) -> None:
    shop.workflow("ship", BROKEN.replace("Do it now", "日本語 – now"))
    ran = subprocess.run(
        [HANDRAIL, "validate", "--json"],
        cwd=shop.root,
        env=environ(shop, PYTHONIOENCODING="ascii"),
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 4
    text = subprocess.run(
        [HANDRAIL, "inspect", "ship"],
        cwd=shop.root,
        env=environ(shop, PYTHONIOENCODING="ascii"),
        capture_output=True,
        check=False,
    )
    assert text.returncode == 4
    assert b"Traceback" not in text.stderr


def test_workflow_names_are_completed(shop: Shop) -> None:
    shop.workflow("ship")
    completing = {"COMP_WORDS": "handrail inspect shi", "COMP_CWORD": "2", "_HANDRAIL_COMPLETE": "bash_complete"}
    ran = subprocess.run(
        [HANDRAIL], cwd=shop.root, env=environ(shop, **completing), capture_output=True, text=True, check=False
    )
    assert ran.stdout == "plain,ship\n"
