"""A grimoire says neither that its beads are a list nor who merges what is built from them: both are added."""

from collections.abc import Callable

from handrail.authoring.importers import ImportedWorkflows, import_files
from support.authoring.grimoire import FILES, GRIMOIRE

JOIN = "  - {name: join, type: merge, from: '${implementations}'}\n"


def test_what_a_run_needs_is_added_and_said(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    imported = import_files(FILES)
    assert problems(imported) == []
    text = imported.files["spec-to-pr/workflow.yaml"]
    assert "output: beads\n    returns: list\n" in text
    assert "  - name: combine\n    type: merge\n    from: ${implementations}\n" in text
    assert text.index("name: implement") < text.index("name: combine") < text.index("name: review")
    said = "\n".join(each.message for each in imported.notes if each.severity == "changed")
    assert "step 'convert' now has `returns: list`" in said
    assert "the added step 'combine' merges them" in said


def test_a_grimoire_that_says_it_all_is_copied_unchanged() -> None:
    whole = GRIMOIRE.replace("output: beads", "output: beads\n    returns: list")
    whole = whole.replace(
        "  - name: review", "  - {name: join, type: merge, from: '${implementations}'}\n  - name: review"
    )
    imported = import_files({**FILES, ".coven/grimoires/spec-to-pr.yaml": whole})
    assert imported.files["spec-to-pr/workflow.yaml"] == whole
    assert "copied unchanged" in imported.notes[0].message
