"""Issues go out and come back through the installed program, byte for byte."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.issues.exported_records import make_exported_record
from support.security.black_box import make_black_box

pytestmark = pytest.mark.system  # takes long: many processes of its own

COUNT = 1_000


def test_a_thousand_issues_are_exported_as_they_were_imported_in_another_place(tmp_path: Path) -> None:
    one, two = make_black_box(tmp_path / "one"), make_black_box(tmp_path / "two")
    plan, first, second = (str(tmp_path / name) for name in ("plan.jsonl", "first.jsonl", "second.jsonl"))
    Path(plan).write_text("".join(f"{json.dumps(make_exported_record(number))}\n" for number in range(COUNT)))
    nothing: dict[str, Any] = {"created": 0, "updated": 0, "unchanged": 0, "skipped": []}
    assert one.call("issues", "import", plan, "--json").document == {**nothing, "created": COUNT}
    assert one.call("issues", "export", "-o", first).err == f"{COUNT} issues\n"
    assert two.call("issues", "import", first, "--json").document == {**nothing, "created": COUNT}
    assert two.call("issues", "export", "-o", second).exit_code == 0
    assert Path(second).read_bytes() == Path(first).read_bytes()
    assert len(Path(first).read_bytes().splitlines()) == COUNT
    assert two.call("issues", "import", second, "--json").document == {**nothing, "unchanged": COUNT}
    assert one.call("issues", "export").out.encode() == Path(first).read_bytes()
