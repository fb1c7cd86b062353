"""What the front end says: every code is known, and the texts read well."""

import re
from pathlib import Path

from inline_snapshot import snapshot

from handrail.compiler.workrail.message_names import MAX_LISTED, describe_unknown, list_names
from handrail.model.codes import CODES
from support.compiler.workrail_building import ROOT, compiled, loop, step

FILES = sorted(Path(ROOT, "src", "handrail", "compiler", "workrail").rglob("*.py"))
REPORTED = re.compile(r'(?:error|warning|advice|Unusable)\(\s*"([a-z-]+)"')


def test_every_code_that_is_reported_is_documented() -> None:
    used = {code for path in FILES for code in REPORTED.findall(path.read_text(encoding="utf-8"))}
    assert len(used) > 25
    assert used <= set(CODES)


def test_a_long_list_names_the_first_and_counts_the_rest() -> None:
    names = [f"n{number}" for number in range(MAX_LISTED + 3)]
    assert list_names(names).endswith(f"n{MAX_LISTED - 1} and 3 more")
    assert list_names(names[:2]) == "n0, n1"


def test_an_unknown_name_comes_with_the_one_that_was_meant() -> None:
    assert describe_unknown("colour", "gren", ["green", "red"]) == "unknown colour 'gren', did you mean 'green'?"
    assert describe_unknown("colour", "xyz", ["green", "red"]) == "unknown colour 'xyz'"


def test_a_shared_prefix_does_not_make_names_alike() -> None:
    known = ["wr.contracts.coding_handoff", "wr.contracts.loop_control"]
    assert describe_unknown("contract", "wr.contracts.nothing", known) == "unknown contract 'wr.contracts.nothing'"
    assert describe_unknown("contract", "wr.contracts.lop_control", known).endswith(
        "did you mean 'wr.contracts.loop_control'?"
    )
    assert describe_unknown("contract", "wr.contract.loop_control", known).endswith(
        "did you mean 'wr.contracts.loop_control'?"
    )


def test_all_problems_of_a_workflow_are_told_at_once_and_in_place() -> None:
    result = compiled(
        step("one-step", outputContract={"contractRef": "wr.contracts.nothing"}),
        step("two-step", promptBlocks={"goal": [{"kind": "ref", "refId": "wr.refs.nothing"}]}),
        step("one-step", runCondition={"equals": 1}),
        loop(body="nowhere-at-all", type="until"),
        features=["wr.features.nothing"],
        references=[{"id": "up", "title": "t", "source": "../up.md", "purpose": "p", "authoritative": False}],
    )
    assert result.plan is None
    assert [f"{found.line}:{found.column} {found.code}: {found.message}" for found in result.report] == snapshot(
        [
            "40:13 duplicate-step: step id 'one-step' appears twice",
            "7:5 unknown-feature: unknown feature 'wr.features.nothing'",
            "34:22 unknown-ref: unknown reference 'wr.refs.nothing'",
            "24:24 unknown-contract: unknown contract 'wr.contracts.nothing'",
            "44:9 missing-key: 'equals' requires 'var'",
            "55:15 unknown-loop-body: no top-level step has the id 'nowhere-at-all'",
            "52:17 loop-incomplete: a loop of type until needs 'condition' or 'conditionSource'",
            "13:17 path-escape: the path leads outside its folder",
        ]
    )
