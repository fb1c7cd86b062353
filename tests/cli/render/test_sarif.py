"""SARIF logs have what the standard demands and code scanning services use."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.cli.render.sarif import sarif
from handrail.model.codes import CODES
from handrail.model.diagnostics import Diagnostic, Severity

BASE = Path("/srv/shop")


def found(file: str = "workflow.yaml", severity: Severity = Severity.ERROR, code: str = "unknown-key") -> Diagnostic:
    return Diagnostic(severity, code, "unknown key 'promt'", file, 6, 5, 10, "    promt: plan.md", "write 'prompt'")


def assert_structure(log: dict[str, Any]) -> None:
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "handrail"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        assert region["startLine"] >= 1
        assert 1 <= region["startColumn"] <= region["endColumn"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert " " not in uri
        assert not uri.startswith("/")


def test_a_finding_becomes_a_result_with_rule_level_message_and_region() -> None:
    log = sarif([found()], BASE)
    assert_structure(log)
    (result,) = log["runs"][0]["results"]
    del result["ruleIndex"]
    assert result == snapshot(
        {
            "ruleId": "unknown-key",
            "level": "error",
            "message": {
                "text": """\
unknown key 'promt'
write 'prompt'\
"""
            },
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": "workflow.yaml"},
                        "region": {"startLine": 6, "startColumn": 5, "endColumn": 10},
                    }
                }
            ],
        }
    )


def test_every_known_code_is_a_rule_with_its_sentence() -> None:
    rules = sarif([], BASE)["runs"][0]["tool"]["driver"]["rules"]
    assert {rule["id"]: rule["shortDescription"]["text"] for rule in rules} == CODES


def test_a_code_outside_the_table_still_gets_a_rule() -> None:
    log = sarif([found(code="brand-new")], BASE)
    assert_structure(log)
    assert log["runs"][0]["tool"]["driver"]["rules"][-1]["id"] == "brand-new"


def test_severities_become_levels() -> None:
    log = sarif([found(severity=each) for each in Severity], BASE)
    assert [result["level"] for result in log["runs"][0]["results"]] == ["error", "warning", "note"]


def test_paths_under_the_base_are_relative_and_quoted() -> None:
    files = ["a b/ü.yaml", "/srv/shop/x/workflow.yaml", "/home/me/workflow.yaml"]
    log = sarif([found(file=file) for file in files], BASE)
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    assert [place["artifactLocation"]["uri"] for place in places] == snapshot(
        ["a%20b/%C3%BC.yaml", "x/workflow.yaml", "file:///home/me/workflow.yaml"]
    )


@given(
    st.text(min_size=1), st.text(min_size=1, max_size=40), st.integers(-1, 9), st.integers(-1, 9), st.integers(-1, 9)
)
def test_any_finding_gives_a_well_formed_result(message: str, code: str, line: int, column: int, end: int) -> None:
    assert_structure(sarif([Diagnostic(Severity.ERROR, code, message, "w.yaml", line, column, end, "")], BASE))
