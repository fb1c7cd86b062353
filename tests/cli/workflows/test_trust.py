"""`handrail trust` shows what may run, trusts exactly that, and forgets."""

from inline_snapshot import snapshot

from support.cli.shop import Shop

PYTHON = "def resolve(context):\n    return {}\n"


def python(shop: Shop, text: str = PYTHON) -> None:
    shop.write(".handrail/workflows/py/workflow.py", text)


def test_without_a_terminal_it_needs_yes(shop: Shop) -> None:
    python(shop)
    result = shop.call("trust", "py")
    assert result.exit_code == 3
    assert result.stderr == snapshot("""\
error: .handrail/workflows/py/workflow.py needs your trust: it has not been trusted
next: handrail trust .handrail/workflows/py/workflow.py --yes
""")
    assert shop.json("trust", "py", "--show")["trusted"] is False


def test_it_shows_the_files_and_their_content_before_it_trusts(shop: Shop) -> None:
    python(shop)
    result = shop.call("trust", "py", "--yes")
    assert result.exit_code == 0
    assert result.stdout == snapshot("""\
py  .handrail/workflows/py/workflow.py
content b8ae58b293c077d3320aeadd889953b7ce870890523a05076d91a5f608e3e264
trust   it has not been trusted
  .handrail/workflows/py/workflow.py  36 bytes

commands that will run
  py: workflow.py, a program that decides what else runs

--- trusted/.handrail/workflows/py/workflow.py
+++ now/.handrail/workflows/py/workflow.py
@@ -0,0 +1,2 @@
+def resolve(context):
+    return {}
trusted b8ae58b293c0
""")
    assert shop.call("trust", "py").exit_code == 0


def test_a_change_is_shown_as_a_difference(shop: Shop) -> None:
    python(shop)
    shop.call("trust", "py", "--yes")
    python(shop, PYTHON.replace("{}", "{'name': 'x'}"))
    data = shop.json("trust", "py", "--show")
    assert (data["trusted"], data["state"]) == (False, "changed")
    assert data["difference"] == snapshot("""\
--- trusted/.handrail/workflows/py/workflow.py
+++ now/.handrail/workflows/py/workflow.py
@@ -1,2 +1,2 @@
 def resolve(context):
-    return {}
+    return {'name': 'x'}
""")


def test_json_never_asks(shop: Shop) -> None:
    python(shop)
    assert shop.json("trust", "py", code=3)["error"]["code"] == "untrusted"
    data = shop.json("trust", "py", "--yes")
    row = {"path": ".handrail/workflows/py/workflow.py", "bytes": 36, "trusted": True}
    assert (data["trusted"], data["state"], data["files"]) == (True, "trusted", [row])


def test_trust_can_be_withdrawn(shop: Shop) -> None:
    python(shop)
    shop.call("trust", "py", "--yes")
    assert shop.call("trust", "py", "--forget").stdout == "trust withdrawn\n"
    assert shop.call("trust", "py", "--forget").stdout == "it was not trusted\n"
    assert shop.json("trust", "py", "--show")["trusted"] is False


def test_built_in_workflows_need_no_trust(shop: Shop) -> None:
    assert shop.json("trust", "fix-bug")["reason"] == "it is part of Handrail"


def test_options_that_exclude_each_other_are_a_usage_error(shop: Shop) -> None:
    assert shop.call("trust", "fix-bug", "--show", "--yes").exit_code == 2


def test_hostile_content_is_shown_harmlessly(shop: Shop) -> None:
    python(shop, "print('\x1b[2J\u202e')\n")
    assert not set(shop.call("trust", "py", "--show").output) & {"\x1b", "\u202e"}


def test_what_cannot_be_read_cannot_be_trusted(shop: Shop) -> None:
    (shop.root / "gone.py").symlink_to("nowhere.py")
    result = shop.call("trust", "./gone.py", "--yes")
    assert result.exit_code == 2
    assert "leads nowhere" in result.stderr
