"""`handrail init` where something is there already: it adds, keeps every byte, and trusts nothing of others."""

import json
import tomllib
from pathlib import Path

from support.cli.fresh import GREEN, Fresh


def test_calling_it_again_adds_what_is_missing_and_keeps_every_byte(fresh: Fresh) -> None:
    mine = '# ours\n[checks]\nunit = "make test"   # fast\n\n# money\n[budget]\nusd = 2\n'
    fresh.commit(**{"Makefile": GREEN, ".handrail/config.toml": mine})
    fresh.shop.workflow("fix-bug", "name: NAME\nsteps:\n  - {name: one, command: 'true'}\n")
    workflow = (fresh.root / ".handrail/workflows/fix-bug/workflow.yaml").read_bytes()
    assert fresh.shop.call("trust", ".handrail/config.toml", "--yes").exit_code == 0
    result = fresh.init()
    assert result.exit_code == 0, result.output
    assert "unit: make test   lint: make lint (new)" in result.output
    assert fresh.config().startswith(mine.replace("# fast\n", '# fast\nlint = "make lint"\n'))
    assert fresh.config().endswith("""
[checks.test_one]
command = "make test FILE=\\"$FILE\\""
failed = [2]
""")
    assert (fresh.root / ".handrail/workflows/fix-bug/workflow.yaml").read_bytes() == workflow
    assert fresh.shop.json("trust", ".handrail/config.toml", "--show")["trusted"]
    assert not fresh.shop.json("trust", "fix-bug", "--show")["trusted"]
    assert "nothing: everything already exists" in fresh.init().output


def test_what_was_never_trusted_is_neither_run_nor_trusted(fresh: Fresh) -> None:
    hostile = f'[checks]\ntest = "touch {fresh.root}/hacked"\n[worktrees]\nsetup = ["touch {fresh.root}/hacked"]\n'
    fresh.commit(**{"Makefile": GREEN, ".handrail/config.toml": hostile})
    found = fresh.shop.json("init", "--yes")
    assert not (fresh.root / "hacked").exists()
    assert found["checks"] == {"lint": "make lint"}
    assert {each["path"]: each["trusted"] for each in found["wrote"]} == {
        ".handrail/config.toml": False,
        ".handrail/workflows/fix-bug/": True,
    }
    assert found["next"] == "handrail trust .handrail/config.toml"
    assert not fresh.shop.json("trust", ".handrail/config.toml", "--show")["trusted"]


def test_files_of_others_beside_the_configuration_are_not_trusted_with_it(fresh: Fresh) -> None:
    fresh.commit(**{"Makefile": GREEN, ".handrail/prompts/x.md": "Do evil.\n"})
    wrote = {each["path"]: each["trusted"] for each in fresh.shop.json("init", "--yes")["wrote"]}
    assert wrote[".handrail/config.toml"] is True
    (trusted,) = json.loads((fresh.shop.home / "data" / "trust.json").read_text())["repositories"].values()
    assert ".handrail/config.toml" in trusted
    assert ".handrail/prompts/x.md" not in trusted


def test_a_check_that_a_person_commented_out_stays_so(fresh: Fresh) -> None:
    mine = '[checks]\ntest = "make test"\n# lint = "make lint"\n'
    fresh.commit(**{"Makefile": GREEN, ".handrail/config.toml": mine})
    fresh.init()
    assert fresh.config().startswith(f"{mine}\n[project]\n")


def test_new_keys_stand_below_the_comment_that_explains_them(fresh: Fresh) -> None:
    mine = "[checks]\n# What must pass.\n# All of it.\n\n[worktrees]\n# How they are made.\n"
    fresh.commit(**{"Makefile": GREEN, ".handrail/config.toml": mine, ".gitignore": ".env\n"})
    fresh.shop.write(".env", "KEY=1\n")
    fresh.init()
    text = fresh.config()
    assert '# All of it.\ntest = "make test"\nlint = "make lint"\n' in text
    assert '# How they are made.\ncopy = [".env"]\n' in text


def test_a_configuration_that_cannot_be_read_is_shown_and_left_alone(fresh: Fresh) -> None:
    fresh.commit(**{"Makefile": GREEN, ".handrail/config.toml": "[checks\n"})
    result = fresh.init()
    assert result.exit_code == 4
    assert "next: fix it, then: handrail init" in result.output
    assert fresh.config() == "[checks\n"


def test_a_link_out_of_the_repository_is_refused(fresh: Fresh, tmp_path: Path) -> None:
    fresh.commit(Makefile=GREEN)
    (tmp_path / "elsewhere").mkdir()
    (fresh.root / ".handrail").symlink_to(tmp_path / "elsewhere")
    assert fresh.init().exit_code == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_hostile_names_are_written_as_text_and_never_run(fresh: Fresh) -> None:
    for folder in ("$(touch hacked)", 'a"b', "it's; touch hacked"):
        fresh.shop.write(f"{folder}/Makefile", "test:\n\t@echo ok\n")
    for name in ('.env.a"b', ".env.$(touch hacked)", ".env.x\ny", ".env.ok"):
        fresh.shop.write(name, "A=1\n")
    fresh.commit(**{".gitignore": ".env*\n"})
    found = fresh.shop.json("init", "--yes")
    assert [each["outcome"] for each in found["tried"]] == ["green"] * 4
    assert tomllib.loads(fresh.config())["checks"] == found["checks"]
    assert found["worktrees"]["copy"] == [".env.ok"]
    assert not list(fresh.root.rglob("hacked"))
