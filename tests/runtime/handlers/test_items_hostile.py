"""Items whose keys are hostile: they name branches, folders and addresses, and never become more than that."""

import json

import pytest

from support.runtime.steps_room import StepsRoom

KEYS = (
    "../../outside",
    "$(touch PWNED)",
    "`touch PWNED`; touch PWNED",
    "a b\nc",
    "a-b-c",
    "-rf",
    "HEAD.lock",
    "refs/heads/main",
    "é\u202e∕x",
    "k" * 300,
    "[other]/one",
    "x@2",
)
FLOW = """\
name: hostile
steps:
  - name: build
    type: parallel-agents
    for_each: ITEMS
    key: item
    steps: [{name: one, prompt: "Do {{ item }}."}]
    output: built
  - {name: combine, type: merge, from: "${built}"}
"""


@pytest.mark.parametrize("keys", [KEYS[:4], KEYS[4:8], KEYS[8:]], ids=("paths", "names", "signs"))
def test_a_hostile_key_names_a_branch_and_nothing_else(shop: StepsRoom, keys: tuple[str, ...]) -> None:
    before = sorted(path.name for path in shop.repo.iterdir())
    text = FLOW.replace("ITEMS", json.dumps(list(keys)))
    state = shop.run(text, {"default": {"say": "Done.", "files": {"made.txt": "same\n"}, "repeat": True}})
    assert (state.status, state.message) == ("succeeded", "")
    built = state.names["built"]
    assert isinstance(built, list)
    assert [each["key"] for each in built if isinstance(each, dict)] == list(keys)
    branches = [str(each["branch"]) for each in built if isinstance(each, dict)]
    assert len(set(branches)) == len(keys)
    assert all(branch.startswith(f"work/{state.run}") for branch in branches)
    assert (shop.tree(state.run) / "made.txt").read_text() == "same\n"
    assert sorted(path.name for path in shop.repo.iterdir()) == before
    assert not list(shop.repo.parent.rglob("PWNED"))
    assert not list(shop.repo.parent.rglob("outside"))
