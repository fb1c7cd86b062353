import json
import subprocess
import sys

import pytest

from handrail.sources.library import LibraryFiles, builtins, library_root


def test_every_listed_file_can_be_read() -> None:
    files = LibraryFiles(library_root())
    assert len(files) == len(list(files))
    for path in files:
        assert files[path].text
        assert files[path].path == f"handrail/library/{path}"


def test_the_library_answers_by_id() -> None:
    library = builtins()
    assert library.prompt("fix-checks") is not None
    assert library.prompt("no-such-prompt") is None
    assert "ideation" in library.routine_names()
    assert library.feature("wr.features.capabilities") is not None
    assert library is builtins()


@pytest.mark.parametrize("path", ["prompts/../__init__.py", "../errors.py", "/etc/passwd", "prompts", "", "workflows"])
def test_only_the_librarys_own_files_are_given(path: str) -> None:
    with pytest.raises(KeyError):
        LibraryFiles(library_root())[path]


def test_nothing_is_opened_before_it_is_asked_for() -> None:
    program = """
import sys, json
opened = []
sys.addaudithook(lambda name, args: opened.append(str(args[0])) if name == "open" else None)
from handrail.sources.library import builtins
library = builtins()
before = [path for path in opened if "library/" in path and path.endswith((".md", ".json"))]
library.prompt("fix-checks")
after = [path for path in opened if "library/" in path and path.endswith((".md", ".json"))]
print(json.dumps([len(before), len(after)]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [0, 1]
