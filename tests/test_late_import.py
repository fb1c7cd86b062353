"""Modules that are imported when they are first used."""

import subprocess
import sys

PROGRAM = """
import sys
from handrail.late_import import late_import
late = late_import("handrail.engine.text.globs")
print("handrail.engine.text.globs" in sys.modules)
translate = late.matches if hasattr(late, "matches") else None
print("handrail.engine.text.globs" in sys.modules)
from handrail.engine.text import globs
print(all(getattr(late, name) is getattr(globs, name) for name in vars(globs) if not name.startswith("_")))
"""


def test_a_module_is_imported_with_the_first_use_of_a_name_and_gives_the_very_same_objects() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True"]
