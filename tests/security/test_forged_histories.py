"""Whatever the history of an import says, no command touches what is not Handrail's, and nothing of it runs.

HANDRAIL_SOAK=1 tries some hundred histories instead of a few.
"""

import json
import os
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from support.security.forged_histories import Forgery, forge_history, forgeries
from support.security.guarded_ground import RUNS, Ground, make_ground

pytestmark = pytest.mark.system  # takes long: many processes of its own

EXAMPLES = 400 if os.environ.get("HANDRAIL_SOAK") else 12
NOTHING = "nothing-1"
STEPS = ("write", "each", "ok", "last", "inner", "inner/deep", "nowhere")
ALONE = (("clean",), ("doctor",), ("status",), ("inbox",))
WITH_RUN = (
    *(("discard",), ("discard", "--set-aside"), ("resume",), ("stop",), ("apply",), ("apply", "--undo"), ("merge",)),
    *(("diff",), ("show",), ("why",), ("logs",), ("export",), ("doctor",), ("approve",), ("reject",), ("fork",)),
    *(("release", "--show"), ("cost",)),
)
WITH_STEP = ("rewind", "fork", "diff", "show", "why", "logs")
TEXTS = (
    *("VICTIM", "LINKED", "REPO", "HOME", "OTHER", "../../../victim", "/", "refs/heads/main", "main", "mine"),
    *("work/other-1", "other-1", "--output=LOOT/x", "$(touch LOOT/x)", "touch LOOT/y", "HEAD", "COMMIT"),
    *("succeeded", "running", "waiting", "approval", "child", "command", "{{ missing }}", "\x00", "\ud800"),
)

calls = st.one_of(
    st.sampled_from(ALONE),
    st.sampled_from(WITH_RUN).map(lambda words: (words[0], "RUN", *words[1:])),
    st.tuples(st.sampled_from(WITH_STEP), st.just("RUN"), st.sampled_from(STEPS)),
)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """A person's folders around those of Handrail."""
    return make_ground(tmp_path_factory.mktemp("ground"))


@settings(max_examples=EXAMPLES)
@given(st.sampled_from(RUNS), forgeries(TEXTS), st.lists(calls, min_size=1, max_size=5))
def test_a_forged_history_touches_nothing_and_runs_nothing(
    ground: Ground, run: str, changes: list[Forgery], called: list[tuple[str, ...]]
) -> None:
    ground.restore()
    before = ground.look()
    placed = [_placed(ground, each) for each in changes]
    imported = _take_in(ground, json.dumps(forge_history(ground.exports[run], placed)))
    event("refused" if imported == NOTHING else "imported")
    for words in called:
        code, said = ground.call(*(imported if word == "RUN" else word for word in words))
        assert code in range(8), (words, code, said)
    after = ground.look()
    assert {name: value for name, value in after.items() if not name.startswith(f"refs/handrail/{imported}")} == before
    assert ground.box.traces() == []
    code, said = ground.call("approve", "other-1", "--json")
    assert (code, json.loads(said)["status"]) == (0, "succeeded"), said


def _take_in(ground: Ground, text: str) -> str:
    """Import a file; where it is refused, what is called is called for a run that is here."""
    file = ground.box.base / "run.json"
    file.write_text(text, "utf-8")
    code, said = ground.call("import-run", str(file), "--json")
    document: dict[str, Any] = json.loads(said)
    if code:
        assert document["error"]["code"] in ("usage", "storage-damaged"), said
        assert document["error"]["next"], said
        return NOTHING
    return document["run"]


def _placed(ground: Ground, change: Forgery) -> Forgery:
    """Put the places of this ground into a change."""
    box = ground.box
    tree = next((box.home / "data" / "worktrees").glob("*/other-1"))
    places = {"VICTIM": box.base / "victim", "LINKED": box.base / "linked", "REPO": box.repository, "LOOT": box.loot}
    text = change.text
    for name, place in {**places, "HOME": box.home, "OTHER": tree, "COMMIT": box.git("rev-parse", "HEAD")}.items():
        text = text.replace(name, str(place))
    return replace(change, text=text)
