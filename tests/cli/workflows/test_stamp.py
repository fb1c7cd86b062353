"""`handrail stamp` and `handrail schema`."""

from pathlib import Path

import jsonschema
import pytest
from inline_snapshot import snapshot

from handrail.sources.library import builtins
from support.cli.shop import BROKEN, GOOD, Shop

SPEC = builtins().spec_version


def test_a_stamp_is_written_once_and_makes_the_workflow_current(shop: Shop) -> None:
    file = shop.workflow("ship")
    before = file.read_text()
    assert shop.json("stamp", "ship") == {
        "path": ".handrail/workflows/ship/workflow.yaml",
        "version": SPEC,
        "before": None,
        "changed": True,
    }
    assert file.read_text() == before.replace("\ninput:", f"\nvalidated_against_spec: {SPEC}\ninput:")
    assert shop.json("stamp", "ship")["changed"] is False
    assert "already carries" in shop.call("stamp", "ship").stdout
    assert shop.json("inspect", "ship")["staleness"] == "none"


def test_the_mode_of_the_file_stays_and_no_other_file_is_left(shop: Shop) -> None:
    file = shop.workflow("ship")
    file.chmod(0o640)
    shop.json("stamp", "ship")
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["workflow.yaml"]


def test_an_invalid_workflow_is_not_stamped(shop: Shop) -> None:
    file = shop.workflow("oops", BROKEN)
    before = file.read_bytes()
    result = shop.call("stamp", "oops")
    assert result.exit_code == 4
    assert file.read_bytes() == before
    assert "unknown key 'acess'" in result.stderr


def test_json_workflows_get_their_own_key(shop: Shop) -> None:
    text = builtins().routine("ideation")
    assert text is not None
    file = shop.write(".handrail/workflows/ideas.json", text.text.replace("routine-ideation", "ideas"))
    shop.json("stamp", "ideas")
    expected = f'"version": "1.0.0",\n  "validatedAgainstSpecVersion": {SPEC},\n'
    assert expected in file.read_text()


def test_python_is_refused_with_the_way_to_do_it(shop: Shop) -> None:
    shop.write(".handrail/workflows/py/workflow.py", "def resolve(context): ...\n")
    result = shop.call("stamp", "py")
    assert result.exit_code == 2
    assert result.stderr == snapshot("""\
error: .handrail/workflows/py/workflow.py is a Python workflow, which this command cannot stamp
next: set validated_against_spec in the workflow that resolve() returns
""")


def test_built_in_workflows_are_not_written_to(shop: Shop) -> None:
    assert shop.call("stamp", "fix-bug").exit_code == 2


def test_a_link_that_leads_elsewhere_is_refused(shop: Shop, tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text(GOOD.replace("NAME", "link"))
    (shop.root / "flows").mkdir()
    (shop.root / "flows" / "link.yaml").symlink_to(outside)
    result = shop.call("stamp", "flows/link.yaml")
    assert result.exit_code == 2
    assert "is a link that leads to" in result.stderr
    assert "validated" not in outside.read_text()


def test_the_schema_is_valid_and_accepts_a_workflow(shop: Shop) -> None:
    schema = shop.json("schema")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"name": "x", "steps": [{"name": "a", "prompt": "Do it."}]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"name": "x", "stepz": []}, schema)


def test_the_schema_comes_with_a_hint_on_stderr(shop: Shop) -> None:
    result = shop.call("schema")
    assert result.stdout == shop.call("schema", "--json").stdout
    assert "# yaml-language-server: $schema=" in result.stderr
    assert shop.call("schema", "--json").stderr == ""


def test_a_layout_without_a_safe_place_is_left_alone(shop: Shop) -> None:
    text = "? name\n: odd\n? steps\n: - {name: a, prompt: Do it.}\n"
    file = shop.workflow("odd", text)
    result = shop.call("stamp", "odd")
    assert result.exit_code == 2
    assert f"next: add it by hand: validated_against_spec: {SPEC}\n" in result.stderr
    assert file.read_text() == text


def test_the_text_form_names_the_file_and_the_spec(shop: Shop) -> None:
    shop.workflow("ship")
    expected = f"stamped .handrail/workflows/ship/workflow.yaml with authoring spec {SPEC}\n"
    assert shop.call("stamp", "ship").stdout == expected


def test_the_authoring_spec_is_printed_with_the_version_that_a_stamp_names(shop: Shop) -> None:
    shop.workflow("ship")
    assert "authoring spec 1" in shop.call("stamp", "ship").stdout
    spec = shop.json("schema", "--authoring-spec")
    assert spec["version"] == 1
    assert {"id", "level", "topic", "rule", "why", "checked_by"} <= set(spec["rules"][0])
    assert shop.call("schema", "--authoring-spec").stdout == shop.call("schema", "--authoring-spec", "--json").stdout
