"""Documents that a workflow refers to: looked for once, told whole at the start, in short on return, never between."""

import os
from pathlib import Path

from inline_snapshot import snapshot

from support.pull.room import Json, Pull, Said, definition, step


def reference(name: str, source: str, **keys: object) -> Json:
    return {
        "id": name,
        "title": f"The {name}",
        "source": source,
        "purpose": f"Why {name}",
        "authoritative": False,
    } | keys


def flow(*references: Json) -> Json:
    return definition(step("one"), step("two"), references=list(references))


def item(said: Said, pull: Pull) -> str:
    return said.texts[-1].replace(str(pull.workspace), "WORK")


def write(pull: Pull, name: str, text: str = "x") -> Path:
    path = pull.workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def status(said: Said) -> list[str]:
    return [each["status"] for each in said.data["references"]]


def test_references_are_whole_at_the_start_short_on_return_and_absent_in_between(pull: Pull) -> None:
    write(pull, "docs/guide.md")
    guide = reference("guide", "docs/guide.md", authoritative=True)
    said = pull.start(flow(guide, reference("lost", "docs/lost.md"), reference("spec", "no.md", resolveFrom="package")))
    after = pull.advance(said)
    assert item(said, pull) == snapshot("""\
# References

Documents that this workflow relies on. Read those that your step needs.

- The guide (authoritative)
  Path: WORK/docs/guide.md
  Purpose: Why guide
- The lost [unresolved]
  Path: docs/lost.md
  Purpose: Why lost
- The spec [unresolved] [package]
  Path: no.md
  Purpose: Why spec\
""")
    assert len(after.texts) == 1
    assert "references" not in after.data
    assert item(pull.rehydrate(after), pull) == snapshot("""\
# References

Documents that this workflow relies on. Read those that your step needs.

- The guide: WORK/docs/guide.md
- The lost [unresolved]: docs/lost.md
- The spec [unresolved]: no.md\
""")


def test_a_reference_that_is_not_there_is_a_warning_and_never_in_the_way(pull: Pull) -> None:
    said = pull.start(flow(reference("lost", "docs/lost.md")))
    assert said.data["kind"] == "ok"
    [told] = [each for each in said.data["warnings"] if each["code"] == "REFERENCE_UNRESOLVED"]
    assert (told["code"], told["referenceId"]) == ("REFERENCE_UNRESOLVED", "lost")
    assert told["message"].split("; ") == snapshot(
        [
            "the reference 'The lost' could not be resolved (docs/lost.md): it does not exist",
            "continue without it, and say so",
        ]
    )
    assert "# Good to know" in said.text
    assert "\n- the reference 'The lost' could not be resolved" in said.text
    assert not pull.rehydrate(said).data["warnings"]


def test_what_was_found_at_the_start_stays_so_whatever_becomes_of_the_file(pull: Pull) -> None:
    there = write(pull, "there.md")
    said = pull.start(flow(reference("there", "there.md"), reference("later", "later.md")))
    before = pull.rehydrate(said)
    there.unlink()
    write(pull, "later.md")
    again = pull.again()
    assert pull.rehydrate(said).texts == before.texts == again.rehydrate(said).texts
    again.close()
    assert status(before) == ["resolved", "unresolved"]


def test_a_branch_has_the_references_of_the_run_it_came_from(pull: Pull) -> None:
    write(pull, "there.md")
    said = pull.start(flow(reference("there", "there.md")))
    pull.advance(said)
    (pull.workspace / "there.md").unlink()
    branch = pull.advance(pull.rehydrate(said))
    assert branch.run != said.run
    assert status(pull.rehydrate(branch)) == ["resolved"]


def test_a_reference_that_leads_out_or_is_no_file_is_unresolved(pull: Pull) -> None:
    outside = pull.folder / "outside.md"
    outside.write_text("x", "utf-8")
    (pull.workspace / "link.md").symlink_to(outside)
    (pull.workspace / "self.md").symlink_to(pull.workspace / "self.md")
    (pull.workspace / "inner.md").symlink_to(write(pull, "real.md"))
    (pull.workspace / "folder").mkdir()
    os.mkfifo(pull.workspace / "pipe")
    names = ("link.md", "self.md", "folder", "pipe", "real.md/below", "inner.md")
    said = pull.start(flow(*(reference(f"r{number}", name) for number, name in enumerate(names))))
    assert status(said) == [*["unresolved"] * 5, "resolved"]


def test_a_workspace_inside_a_repository_finds_what_stands_at_its_root(pull: Pull) -> None:
    (pull.workspace / ".git").mkdir(exist_ok=True)
    write(pull, "guide.md")
    inner = pull.workspace / "packages" / "one"
    inner.mkdir(parents=True)
    name = pull.add(flow(reference("guide", "guide.md")))
    said = pull.call("start_workflow", workflowId=name, workspacePath=str(inner), goal="g")
    assert said.data["references"][0]["path"] == str(pull.workspace / "guide.md")


def test_a_workflow_without_references_gives_no_item(pull: Pull) -> None:
    said = pull.start(flow())
    assert "# References" not in said.text
    assert "references" not in said.data
