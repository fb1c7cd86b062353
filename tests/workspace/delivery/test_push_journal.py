"""What is remembered about pushed branches, each for itself."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from handrail.workspace.delivery.push_journal import SHARED, PushJournal

URL = "https://ann:hunter2@github.com/acme/shop.git"


def test_branches_that_are_pushed_at_the_same_time_do_not_lose_what_the_others_note(tmp_path: Path) -> None:
    journals = [PushJournal(tmp_path, URL, f"work/r{number}") for number in range(8)]

    def note(journal: PushJournal) -> None:
        for number in range(20):
            journal.note("", f"{journal.branch}-{number}", f"{journal.branch}-{number}")

    with ThreadPoolExecutor(len(journals)) as pool:
        list(pool.map(note, journals))
    assert [each.ours for each in journals] == [(f"work/r{number}-19",) for number in range(8)]
    assert not any("hunter2" in path.name + path.read_text() for path in tmp_path.iterdir())


def test_what_an_earlier_version_noted_counts_until_something_new_is(tmp_path: Path) -> None:
    key = "d8221488deded493 work/r1"
    journal = PushJournal(tmp_path, "https://github.com/acme/shop.git", "work/r1")
    (tmp_path / SHARED).write_text(json.dumps({key: ["aaa", "bbb"], "other work/r1": ["ccc"]}))
    assert journal.ours == ("aaa", "bbb")
    journal.note("ddd")
    assert journal.ours == ("ddd",)
