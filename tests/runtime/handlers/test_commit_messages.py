"""The messages of commits that Handrail makes."""

import pytest

from handrail.runtime.handlers.trees import add_run_trailer


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("fix: it crashes", "fix: it crashes"),
        ("fix: it crashes, fixes #2", "fix: it crashes, fixes, see #2"),
        ("Close\n\nResolves: acme/shop#2", "Close\n\nResolves, see acme/shop#2"),
    ],
)
def test_a_message_closes_no_issue_and_names_its_run(message: str, expected: str) -> None:
    assert add_run_trailer(message, "demo-1", "ship") == f"{expected}\n\nHandrail-Run: demo-1\nHandrail-Step: ship\n"
