"""The comment that reports on a run says first what the reader has to know."""

import pytest

from handrail.engine.issues.progress_text import OpenQuestion, RunProgress, write_progress


def question(kind: str) -> OpenQuestion:
    return OpenQuestion(kind=kind, step="check", text="Is it good?", command="handrail status work-12-a1")


@pytest.mark.parametrize(
    ("status", "asks", "head"),
    [
        ("queued", None, "waits for its turn"),
        ("running", None, "is running"),
        ("waiting", question("approval"), "needs an answer"),
        ("waiting", question("question"), "needs an answer"),
        ("blocked", question("blocked"), "needs a person"),
        ("succeeded", None, "has finished"),
        ("failed", None, "has failed"),
        ("cancelled", None, "was stopped"),
    ],
)
def test_the_first_line_says_how_it_stands(status: str, asks: OpenQuestion | None, head: str) -> None:
    text = write_progress(RunProgress(run="work-12-a1", workflow="fix-bug", status=status, question=asks))
    assert text.splitlines()[0] == f"**Handrail** run `work-12-a1` of the workflow `fix-bug` {head}."
