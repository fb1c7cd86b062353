"""The text of a pull request says what was asked, done and proven, and closes an issue only where that is true."""

from dataclasses import replace

import pytest

from handrail.model.history.spending import Spending
from handrail.model.issues import RepositoryRef
from handrail.model.workflow.values import JsonValue
from handrail.runtime.handlers.trackers.pull_request_text import (
    END,
    Evidence,
    IssueLink,
    TextParts,
    join_template,
    write_body,
)
from support.runtime.pull_request_room import PullRequestRoom

HERE = RepositoryRef("github.com", "acme", "shop")
ISSUE = IssueLink(
    title="It breaks", url="https://github.com/acme/shop/issues/7", place="github.com/acme/shop", number=7
)
PARTS = TextParts(
    text="I mended it.",
    issue=ISSUE,
    task="",
    closes="#7",
    refers="#7",
    evidence=Evidence(
        proofs=(("make test passes", True), ("docs exist", False)),
        checks=(("checks", True),),
        declined=(("app.py:3 too long", "it is generated"),),
        spent=Spending(usd=0.613, tokens=5, agent_calls=4),
        run="fix-1",
    ),
)


def test_everything_that_is_known_stands_in_the_text() -> None:
    assert (
        write_body(PARTS)
        == """\
I mended it.

### What was asked

Closes #7

> It breaks

### Proof

- ✅ make test passes
- ❌ docs exist

### Checks

- ✅ checks

### Declined in review

- app.py:3 too long: it is generated

Handrail run `fix-1`: 4 agent calls, $0.61
"""
    )


def test_an_unknown_price_is_never_zero() -> None:
    unknown = replace(PARTS, evidence=Evidence(spent=Spending(agent_calls=1, unpriced=1), run="fix-1"))
    assert "1 agent call, price unknown" in write_body(unknown)


@pytest.mark.parametrize(
    ("place", "number", "refers"),
    [
        ("github.com/acme/shop", 7, "#7"),
        ("github.com/acme/docs", 7, "acme/docs#7"),
        ("ghe.example.org/acme/shop", 7, ""),
        ("local", 0, ""),
    ],
)
def test_an_issue_is_referred_to_as_its_host_understands_it(place: str, number: int, refers: str) -> None:
    assert IssueLink(title="x", place=place, number=number).refer_from(HERE) == refers


def test_what_others_wrote_neither_closes_nor_notifies_nor_forges_a_mark() -> None:
    hostile = "Fixes #1\n<!-- handrail:pull-request key=other -->\n@ann\n```\nopen"
    parts = replace(
        PARTS,
        text=hostile,
        task=hostile,
        closes="",
        evidence=replace(PARTS.evidence, proofs=((hostile, True),), declined=((hostile, hostile),)),
    )
    body = write_body(parts)
    assert "Fixes #1" not in body
    assert "<!--" not in body
    assert "@ann" not in body
    assert "Refs #7" in body
    assert body.partition("### What was asked")[0].count("\n```") == 2


def test_a_text_of_a_megabyte_fits_and_loses_none_of_our_own() -> None:
    body = join_template(write_body(replace(PARTS, text="word " * 200_000)), "t" * 50_000, "")
    assert len(body) < 60_000
    assert "Closes #7" in body
    assert "$0.61" in body


def test_what_people_wrote_after_our_part_stays() -> None:
    first = join_template("ours\n", "## Checklist\n- [ ] tests <!-- handrail:x key=y -->", "")
    assert first == f"ours\n\n{END}\n\n## Checklist\n- [ ] tests &lt;!-- handrail:x key=y -->\n"
    edited = first.replace("[ ]", "[x]")
    assert join_template("newer\n", "", edited) == edited.replace("ours", "newer")


WORKFLOW = """\
name: mend
description: Mend something.
input:
  issue: issue
steps:
  - {name: change, command: "echo new > new.txt"}
  - {name: pr, type: pull-request, title: "Mend ${issue.title}"}
AFTER"""


@pytest.mark.parametrize(
    ("issue", "after", "line"),
    [
        ("github.com/acme/shop#7", "", "Closes #7"),
        ("github.com/acme/docs#7", "", "Refs acme/docs#7"),
        ("github.com/acme/shop#7", "  - {name: more, prompt: Do the rest.}\n", "Refs #7"),
        ("", "", ""),
    ],
)
def test_an_issue_is_closed_only_by_the_run_that_finishes_it(
    pulls: PullRequestRoom, issue: str, after: str, line: str
) -> None:
    url = "https://github.com/acme/shop/issues/9"
    given: dict[str, JsonValue] = {"id": "7", "number": 7, "title": "it", "body": "Closes #9", "url": url}
    pulls.steps.issue = issue
    run = pulls.steps.start(WORKFLOW.replace("AFTER", after), {"more": {"say": "done"}}, issue=given)
    pulls.steps.drive()
    assert pulls.steps.state(run).status == "succeeded", pulls.steps.state(run).message
    body = pulls.only.body
    assert [each for each in body.splitlines() if each.startswith(("Closes", "Refs"))] == ([line] if line else [])
    assert pulls.record().closes == (("github.com/acme/shop#7",) if line.startswith("Closes") else ())
