"""`handrail list` shows what can be used, what is hidden and what is broken."""

import json

import click
import pytest
from inline_snapshot import snapshot

from support.cli.shop import BROKEN, GOOD, Shop

KEYS = {"name", "tier", "format", "path", "description", "hash", "valid", "shadows", "staleness", "steps"}


def mine(data: dict[str, list[dict[str, object]]]) -> list[dict[str, object]]:
    return [each for each in data["workflows"] if each["tier"] != "built-in"]


def test_every_workflow_has_the_same_keys(shop: Shop) -> None:
    data = shop.json("list")
    assert set(data) == {"workflows"}
    assert {frozenset(each) for each in data["workflows"]} == {frozenset(KEYS)}
    assert all(each["valid"] and each["hash"].startswith("sha256:") for each in data["workflows"])


def test_a_repository_workflow_is_described(shop: Shop) -> None:
    shop.workflow("ship")
    (listed,) = mine(shop.json("list"))
    assert str(listed.pop("hash")).startswith("sha256:")
    assert listed == snapshot(
        {
            "name": "ship",
            "tier": "repository",
            "format": "yaml",
            "path": ".handrail/workflows/ship/workflow.yaml",
            "description": "Ask an agent, then check.",
            "valid": True,
            "shadows": [],
            "staleness": "possible",
            "steps": 2,
        }
    )


def test_the_table_fits_eighty_columns_and_marks_what_is_invalid(shop: Shop) -> None:
    shop.workflow("ship", GOOD.replace("Ask an agent", "Ask an agent, at some length so that it must be cropped"))
    shop.workflow("oops", BROKEN)
    result = shop.call("list", "--tier", "repository")
    assert result.exit_code == 0
    assert result.stdout == snapshot("""\
NAME  FROM        STEPS  DESCRIPTION
oops  repository      1  invalid: line 5: unknown key 'acess' in an agent step,…
ship  repository      2  Ask an agent, at some length so that it must be croppe…
next: handrail validate .handrail/workflows/oops/workflow.yaml
""")
    assert max(map(len, result.stdout.splitlines()[:-1])) <= 80


def test_an_invalid_workflow_stays_listed_with_its_diagnostics(shop: Shop) -> None:
    shop.workflow("oops", BROKEN)
    (listed,) = [each for each in shop.json("list")["workflows"] if each["tier"] == "repository"]
    assert (listed["valid"], listed["hash"], listed["steps"]) == (False, None, 1)
    assert [each["code"] for each in listed["diagnostics"]] == snapshot(["unknown-key"])


def test_a_user_workflow_hides_that_of_the_repository_and_says_so(shop: Shop) -> None:
    shop.workflow("fix-bug")
    shop.user_workflow("fix-bug")
    names = [(each["tier"], each["shadows"]) for each in mine(shop.json("list"))]
    assert names == [("user", ["repository", "built-in"])]
    everything = [each for each in shop.json("list", "--all")["workflows"] if each["name"] == "fix-bug"]
    assert [(each["tier"], each.get("shadowed_by")) for each in everything] == snapshot(
        [("user", None), ("repository", "user"), ("built-in", "user")]
    )
    assert "fix-bug (user) hides: repository, built-in" in shop.call("list").stdout


def test_routines_are_one_line_until_all_is_asked_for(shop: Shop) -> None:
    assert "routine-ideation" not in shop.call("list").stdout
    count = sum(each["name"].startswith("routine-") for each in shop.json("list")["workflows"])
    assert f"and {count} routines to use in other workflows" in shop.call("list").stdout
    assert "routine-ideation" in shop.call("list", "--all").stdout
    assert any(each["name"] == "routine-ideation" for each in shop.json("list")["workflows"])


def test_staleness_is_shown_for_ones_own_workflows(shop: Shop) -> None:
    shop.workflow("new")
    shop.workflow("old", GOOD.replace("input:", "validated_against_spec: 99\ninput:"))
    data = shop.json("list")["workflows"]
    assert {each["name"]: each["staleness"] for each in data if each["tier"] == "repository"} == {
        "new": "possible",
        "old": "likely",
    }
    assert {each["staleness"] for each in data if each["tier"] == "built-in"} == {None}
    assert "reviewed against another authoring spec: old" in shop.call("list").stdout


@pytest.mark.parametrize("variable", ["HANDRAIL_DEV", "WORKRAIL_DEV"])
def test_staleness_of_built_in_workflows_is_for_developers(shop: Shop, variable: str) -> None:
    def shown(value: str) -> set[str | None]:
        data = json.loads(shop.call("list", "--json", **{variable: value}).stdout)
        return {each["staleness"] for each in data["workflows"]}

    assert None not in shown("1")
    assert shown("0") == {None}


def test_staleness_of_a_catalogue_at_the_root_is_for_developers(shop: Shop) -> None:
    shop.write(".handrail/config.toml", "[workflows]\nfolders = ['workflows', 'team']\n")
    shop.write("workflows/ship/workflow.yaml", GOOD.replace("NAME", "ship"))
    shop.write("team/greet/workflow.yaml", GOOD.replace("NAME", "greet"))

    def shown(developing: str) -> dict[str, str | None]:
        data = shop.json("list", HANDRAIL_DEV=developing)["workflows"]
        return {each["name"]: each["staleness"] for each in data if each["tier"] == "repository"}

    assert shown("") == {"greet": "possible", "ship": None}
    assert shown("1") == {"greet": "possible", "ship": "possible"}


def test_a_broken_configuration_is_reported_beside_the_list(shop: Shop) -> None:
    shop.write(".handrail/config.toml", "[workflows]\nfolders = ['../elsewhere']\n")
    result = shop.call("list", "--json")
    assert result.exit_code == 0
    assert "leads outside the repository" in result.stderr
    assert result.stdout.startswith("{")


def test_names_and_descriptions_cannot_control_the_terminal(shop: Shop) -> None:
    hostile = '"\\e]0;owned\\a\\e[2J \\u202e \\u009b"'
    shop.workflow("ship", GOOD.replace("Ask an agent, then check.", hostile))
    shop.workflow("evil\x1b[31m", BROKEN)
    printed = shop.call("list").output + shop.call("inspect", "ship").output + shop.call("validate").output
    assert not set(printed) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_the_workflow_group_has_the_same_command(shop: Shop) -> None:
    assert shop.call("workflow", "list").stdout == shop.call("list").stdout


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {}])
def test_there_is_no_colour_without_a_terminal(shop: Shop, environ: dict[str, str]) -> None:
    shop.workflow("oops", BROKEN)
    result = shop.call("list", **environ)
    assert result.stdout == click.unstyle(result.stdout)


def test_outside_of_a_repository_the_built_in_workflows_are_listed(shop: Shop) -> None:
    shop.leave_repository()
    assert {each["tier"] for each in shop.json("list")["workflows"]} == {"built-in"}


def test_a_python_workflow_that_nobody_trusted_is_not_called_invalid(shop: Shop) -> None:
    folder = shop.root / ".handrail" / "workflows" / "made"
    folder.mkdir(parents=True)
    (folder / "workflow.py").write_text("def resolve(context):\n    return None\n")
    said = shop.call("list").stdout
    assert "needs your trust" in said
    assert "invalid" not in said
    assert "next: handrail trust .handrail/workflows/made" in said
