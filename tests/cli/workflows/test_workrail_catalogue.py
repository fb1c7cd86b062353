"""Every workflow of WorkRail's catalogue validates, with one hash in another process and with its keys shuffled."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from support.places import WORKRAIL

DATA = WORKRAIL
FILES = sorted(path for path in DATA.rglob("*.json") if path.name != "dashboard-template-workflow.json")
COMMAND = str(Path(sys.executable).with_name("handrail"))


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, list):
        return [shuffled(item, chance) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    entries = list(cast("dict[str, Any]", value).items())
    chance.shuffle(entries)
    return {name: item if name == "outputRequired" else shuffled(item, chance) for name, item in entries}


def hashes(paths: list[Path], home: Path, seed: str) -> dict[str, str]:
    done = subprocess.run(
        [COMMAND, "validate", *map(str, paths), "--json"],
        env={"HANDRAIL_HOME": str(home), "PYTHONHASHSEED": seed},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["ok"]) == (0, True)
    return {Path(each["path"]).name: each["hash"] for each in answer["files"]}


@pytest.mark.skipif(not FILES, reason=f"WorkRail's catalogue is not at {DATA}")
def test_the_catalogue_keeps_its_hashes_in_another_process_and_another_order(tmp_path: Path) -> None:
    copies: list[Path] = []
    for path in FILES:
        copy = tmp_path / "copies" / path.relative_to(DATA)
        copy.parent.mkdir(parents=True, exist_ok=True)
        mixed = shuffled(json.loads(path.read_text("utf-8")), random.Random(path.name))
        copy.write_text(json.dumps(mixed, ensure_ascii=False), "utf-8")
        copies.append(copy)
    found = hashes(FILES, tmp_path, "1")
    assert len(found) == len(FILES) == 42
    assert hashes(copies, tmp_path, "2") == found
