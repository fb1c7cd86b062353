"""The workflow `notes` and a test of it that passes."""

import pytest

from support.cli.team import Team

NOTES = """\
name: NAME
input:
  version: string
steps:
  - name: changes
    command: git log --format=%s
    output: changes
  - name: write
    prompt: Write NOTES.md for version {{ version }}. What changed is {{ changes }}.
    done_when:
      - changed: NOTES.md
    retry: 1
  - name: look
    type: approval
    message: Are the notes for ${version} good?
    revise: write
  - name: publish
    command: ./publish.sh "${version}"
"""
GOOD = """\
name: notes are written, looked at and published
input: {version: "1.2"}
turns:
  write: {files: {NOTES.md: "# 1.2\\n"}, say: Written.}
answers: {look: approve}
commands:
  publish: {stdout: published}
expect:
  path: [changes, write, look, publish]
  prompts: {write: ["version `1.2`", "changed is `Start`"]}
  files: {NOTES.md: "# 1.2\\n"}
"""


@pytest.fixture
def notes(team: Team) -> Team:
    team.runs.add("notes", NOTES)
    return team


def put(team: Team, text: str, name: str = "first") -> None:
    team.runs.shop.write(f".handrail/workflows/notes/tests/{name}.yaml", text)


def said(team: Team, *args: str, code: int = 0) -> str:
    text = team.text("test", *args, code=code)
    return text.replace(".handrail/workflows/notes/", "NOTES/")
