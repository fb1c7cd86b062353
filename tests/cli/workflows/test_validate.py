"""`handrail validate` and `handrail lint`: verdicts, places and exit codes."""

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.cli.shop import BROKEN, GOOD, Shop


def test_a_valid_workflow_exits_with_0(shop: Shop) -> None:
    shop.workflow("ship")
    result = shop.call("validate", "ship")
    assert (result.exit_code, result.stdout) == (0, "1 workflow valid\n")


def test_workflows_without_the_present_stamp_are_named_and_fail_nothing(shop: Shop) -> None:
    shop.workflow("new")
    shop.workflow("old", GOOD.replace("input:", "validated_against_spec: 99\ninput:"))
    shop.workflow("current", GOOD.replace("input:", "validated_against_spec: 1\ninput:"))
    result = shop.call("validate")
    assert (result.exit_code, result.stdout) == (0, "3 workflows valid\n")
    assert result.stderr.replace(".handrail/workflows/", "") == snapshot("""\
advice: reviewed against another authoring spec: old/workflow.yaml
advice: not stamped as reviewed against the authoring spec: new/workflow.yaml
""")
    found = {Path(each["path"]).parent.name: each["staleness"] for each in shop.json("validate")["files"]}
    assert found == {"current": "none", "new": "possible", "old": "likely"}


def test_a_workflow_that_is_invalid_is_not_advised_on_its_stamp(shop: Shop) -> None:
    shop.workflow("oops", BROKEN)
    assert shop.call("validate", "oops").stderr == ""


def test_an_invalid_workflow_exits_with_4_and_shows_the_place(shop: Shop) -> None:
    shop.workflow("oops", BROKEN)
    result = shop.call("validate", "oops")
    assert result.exit_code == 4
    assert result.stdout.replace(".handrail/workflows/", "") == snapshot("""\
oops/workflow.yaml:5:5: error: unknown key 'acess' in an agent step, did you mean 'access'? [unknown-key]
    5 |     acess: read
      |     ^^^^^

1 workflow checked, 1 invalid: 1 error
""")


def test_the_json_form_has_a_verdict_for_each_file(shop: Shop) -> None:
    shop.workflow("ship")
    shop.workflow("oops", BROKEN)
    data = shop.json("validate", "ship", "oops", code=4)
    assert data["ok"] is False
    assert data["files"][0].pop("hash").startswith("sha256:")
    assert data == snapshot(
        {
            "ok": False,
            "files": [
                {
                    "path": ".handrail/workflows/ship/workflow.yaml",
                    "ok": True,
                    "diagnostics": [],
                    "staleness": "possible",
                },
                {
                    "path": ".handrail/workflows/oops/workflow.yaml",
                    "ok": False,
                    "hash": None,
                    "diagnostics": [
                        {
                            "severity": "error",
                            "code": "unknown-key",
                            "file": ".handrail/workflows/oops/workflow.yaml",
                            "line": 5,
                            "column": 5,
                            "message": "unknown key 'acess' in an agent step, did you mean 'access'?",
                            "hint": None,
                        }
                    ],
                    "staleness": None,
                },
            ],
        }
    )


@pytest.mark.parametrize(
    "target",
    ["ship", ".handrail/workflows/ship", ".handrail/workflows/ship/", ".handrail/workflows/ship/workflow.yaml"],
)
def test_a_workflow_is_named_by_name_folder_or_file(shop: Shop, target: str) -> None:
    shop.workflow("ship")
    (file,) = shop.json("validate", target)["files"]
    assert file["path"] == ".handrail/workflows/ship/workflow.yaml"


def test_a_folder_of_workflows_means_all_of_them(shop: Shop) -> None:
    shop.write("flows/a/workflow.yaml", GOOD.replace("NAME", "a"))
    shop.write("flows/b.yaml", GOOD.replace("NAME", "b"))
    for target in ("flows", "./flows", "flows/"):
        paths = [file["path"] for file in shop.json("validate", target)["files"]]
        assert sorted(paths) == ["flows/a/workflow.yaml", "flows/b.yaml"]


def test_a_path_may_stand_without_a_slash(shop: Shop) -> None:
    shop.write("lone/workflow.yaml", GOOD.replace("NAME", "lone"))
    assert shop.json("validate", "lone")["ok"]


def test_without_arguments_the_repository_is_checked(shop: Shop) -> None:
    shop.workflow("ship")
    shop.user_workflow("mine", BROKEN)
    assert [file["path"] for file in shop.json("validate")["files"]] == [".handrail/workflows/ship/workflow.yaml"]


def test_without_arguments_and_without_workflows_it_says_what_to_give(shop: Shop) -> None:
    result = shop.call("validate")
    assert result.exit_code == 2
    assert result.stderr == snapshot("""\
error: .handrail/workflows contains no workflow, so name what to check
next: handrail validate NAME|PATH, or --library for the built-in workflows
""")


def test_the_library_is_valid(shop: Shop) -> None:
    data = shop.json("validate", "--library")
    assert data["ok"]
    assert len(data["files"]) > 20


def test_an_unknown_name_is_a_usage_error_that_suggests(shop: Shop) -> None:
    result = shop.call("validate", "fix-bgu")
    assert result.exit_code == 2
    assert "there is no workflow 'fix-bgu', did you mean 'fix-bug'?" in result.stderr


def test_untrusted_python_is_invalid_until_it_is_trusted(shop: Shop) -> None:
    shop.write(".handrail/workflows/py/workflow.py", "raise SystemExit('ran')\n")
    result = shop.call("validate", "py")
    assert result.exit_code == 4
    assert "has not been trusted" in result.stdout


def test_sarif_on_stdout_is_the_only_output(shop: Shop) -> None:
    shop.workflow("oops", BROKEN)
    result = shop.call("validate", "oops", "--sarif", "-")
    assert result.exit_code == 4
    (run,) = json.loads(result.stdout)["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == ".handrail/workflows/oops/workflow.yaml"


def test_sarif_in_a_file_leaves_stdout_to_the_text(shop: Shop, tmp_path: Path) -> None:
    shop.workflow("ship")
    result = shop.call("lint", "ship", "--sarif", str(tmp_path / "out.sarif"))
    assert "workflow" in result.stdout
    assert json.loads((tmp_path / "out.sarif").read_text())["version"] == "2.1.0"


def test_json_and_sarif_cannot_share_stdout(shop: Shop) -> None:
    shop.workflow("ship")
    assert "usage" in shop.json("validate", "ship", "--sarif", "-", code=2)["error"]["code"]


def test_a_sarif_file_that_cannot_be_written_is_no_traceback(shop: Shop) -> None:
    shop.workflow("ship")
    result = shop.call("validate", "ship", "--sarif", "no/such/folder/out.sarif")
    assert result.exit_code in {1, 2}
    assert result.stderr.startswith("error: ")


def test_lint_fails_on_errors_and_only_if_strict_on_warnings(shop: Shop) -> None:
    shop.write("flows/b.yaml", GOOD.replace("NAME", "other"))
    assert "warning" in shop.call("lint", "flows/b.yaml").stdout
    assert shop.call("lint", "flows/b.yaml").exit_code == 0
    assert shop.call("lint", "flows/b.yaml", "--strict").exit_code == 4
    shop.workflow("oops", BROKEN)
    assert shop.call("lint", "oops").exit_code == 4


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"", b"\x00" * 10, b"[" * 5000, b"a: " + b"x" * 2_000_000, b"name: \x1b[31m\n"]
)
def test_whatever_a_file_holds_the_answer_is_a_diagnostic(shop: Shop, content: bytes) -> None:
    shop.workflow("ship").write_bytes(content)
    result = shop.call("validate", "ship")
    assert result.exit_code == 4
    assert "error: " in result.stdout
    assert "internal error" not in result.output
    assert "\x1b" not in result.output


def test_a_flood_of_findings_is_cut_and_counted(shop: Shop) -> None:
    shop.workflow("ship", GOOD + "".join(f"key{number}: 1\n" for number in range(300)))
    lines = shop.call("validate", "ship").stdout.splitlines()
    assert lines[-2] == ".handrail/workflows/ship/workflow.yaml: and 100 more"
    assert lines[-1] == "1 workflow checked, 1 invalid: 200 errors"
