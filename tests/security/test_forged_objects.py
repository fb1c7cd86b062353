"""What is looked at is what is delivered, although an agent may write false objects into the repository."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.security import forged_objects
from support.security.black_box import BlackBox
from support.security.forged_objects import forge_loose, forge_pack

pytestmark = pytest.mark.system  # takes long: many processes of its own

EVIL, GOOD = "evil\n", "good\n"
SUPPORT = Path(forged_objects.__file__).parents[2]
REFUSED = "does not match its name: it was written by hand"


def _start(box: BlackBox, way: Callable[[Path, bytes, bytes], None]) -> None:
    """Run a step that writes one content and stores another one in its place, and ask for a look at it."""
    objects = str(box.repository / ".git/objects")
    code = (
        f"import sys; sys.path.insert(0, {str(SUPPORT)!r}); from pathlib import Path;"
        f" from support.security.forged_objects import {way.__name__} as forge;"
        f" forge(Path({objects!r}), {EVIL.encode()!r}, {GOOD.encode()!r})"
    )
    work = f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}; echo evil > app.txt; git add -A; git commit -qm work"
    steps = f"  - {{name: a, command: {json.dumps(work)}}}\n  - {{name: ok, type: approval, show: [diff]}}\n"
    box.write_own("workflows/w/workflow.yaml", f"name: w\nsteps:\n{steps}")
    answer = box.call("run", "w")
    assert answer.exit_code == 3, answer.text
    assert "+good" not in answer.text, answer.text


@pytest.mark.parametrize("way", [forge_pack, forge_loose])
def test_a_change_whose_stored_content_is_false_is_neither_shown_nor_delivered(
    box: BlackBox, way: Callable[[Path, bytes, bytes], None]
) -> None:
    before = box.git("rev-parse", "main")
    _start(box, way)
    for words in ("diff w-1", "diff w-1 --stat", "apply w-1", "merge w-1"):
        answer = box.call(*words.split())
        assert (answer.exit_code, REFUSED in answer.text) == (1, True), (words, answer.text)
    assert ((box.repository / "app.txt").read_text(), box.git("rev-parse", "main")) == ("one\ntwo\n", before)
    assert box.call("discard", "w-1").exit_code == 0
