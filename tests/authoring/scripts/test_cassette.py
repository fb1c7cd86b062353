"""The file format of recorded runs."""

import pytest

from handrail.authoring.scripts.cassette import (
    HEAD,
    RecordedCall,
    digest,
    drift,
    make_strict,
    read_drift,
    require_cassette,
    write_cassette,
)
from handrail.errors import InvalidWorkflow, NotFound


def recorded(**changes: object) -> RecordedCall:
    given = {
        "run": "",
        "address": "work",
        "turn": 1,
        "agent": "scripted",
        "model": None,
        "prompt_digest": digest("do"),
        "prompt": "do",
        "lines": ("one", "\udcff"),
        "exit_code": 0,
    }
    return RecordedCall(**{**given, **changes})  # type: ignore[arg-type] - given as a test writes them


def test_a_cassette_is_read_as_it_was_written() -> None:
    calls = (recorded(), recorded(run=".7", signal=9, exit_code=None, patch="p", seconds=1.5))
    data = write_cassette(calls, {"run": "a-1"})
    assert require_cassette("tape", data).calls == calls
    assert not require_cassette("tape", data).strict
    assert require_cassette("tape", make_strict(data)).strict


def test_a_call_is_found_in_its_own_run_first() -> None:
    data = write_cassette((recorded(), recorded(run=".7", prompt="inner")), {})
    cassette = require_cassette("tape", data)
    assert cassette.find("a-3.7", "work", 1).prompt == "inner"
    assert cassette.find("a-3", "work", 1).prompt == "do"
    assert cassette.find("a-3.9", "work", 1).prompt == "do"
    with pytest.raises(NotFound):
        cassette.find("a-3", "work", 2)


@pytest.mark.parametrize(
    "data", [b"", b"[]\n", b'{"handrail_cassette": 2}\n', b'{"handrail_cassette": 1}\n{"run": ""}\n']
)
def test_what_is_no_cassette_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidWorkflow):
        require_cassette("tape", data)


def test_drift_names_the_first_line_that_differs() -> None:
    assert drift("a\nb", "a\nb") == ""
    assert drift("a\nb", "a") == "the prompt differs from the recorded one at line 2: 'b' before, nothing now"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f'{{"type": "{HEAD}", "drift": "it differs"}}'.encode(), "it differs"),
        (f'{{"type": "{HEAD}", "drift": ""}}'.encode(), ""),
        (b'{"type": "text", "drift": "it differs"}', ""),
        (b"no JSON", ""),
        (b"\xff", ""),
    ],
)
def test_only_the_head_of_a_replay_tells_of_a_drift(line: bytes, told: str) -> None:
    assert read_drift(line) == told
