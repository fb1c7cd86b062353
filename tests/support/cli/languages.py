"""Small repositories of several languages, each with a bug, and what an agent does about it."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HANDRAIL = str(Path(sys.executable).parent / "handrail")


@dataclass(frozen=True, slots=True)
class Language:
    """A repository with a bug, and what an agent does about it."""

    files: dict[str, str]
    """With a test that passes, in spite of the bug."""
    test: str
    """The file in which the bug is reproduced."""
    broken: str
    """A test that does not compile or load."""
    failing: str
    repaired: dict[str, str]
    product: str
    """A file of the product's own code."""
    checks: tuple[str, ...] = ("test",)
    ignored: str = ""
    env: dict[str, str] = field(default_factory=dict[str, str])


PYTHON = Language(
    files={
        "calc/__init__.py": "def add(a, b):\n    return a + abs(b)\n",
        "tests/test_calc.py": (
            "import unittest\nfrom calc import add\n\n\nclass Adding(unittest.TestCase):\n"
            "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"
        ),
        "tests/__init__.py": "",
    },
    test="tests/test_minus.py",
    broken="import unittest\nfrom calc import nothing\n",
    failing=(
        "import unittest\nfrom calc import add\n\n\nclass Minus(unittest.TestCase):\n"
        "    def test_minus(self):\n        self.assertEqual(add(1, -2), -1)\n"
    ),
    repaired={"calc/__init__.py": "def add(a, b):\n    return a + b\n"},
    product="calc/__init__.py",
    ignored="__pycache__/\n",
)
GO = Language(
    files={
        "go.mod": "module example.com/calc\n\ngo 1.19\n",
        "calc.go": "package calc\n\nfunc Add(a, b int) int {\n\tif b < 0 {\n\t\tb = -b\n\t}\n\treturn a + b\n}\n",
        "calc_test.go": (
            'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n'
            '\tif Add(1, 2) != 3 {\n\t\tt.Fatal("no")\n\t}\n}\n'
        ),
    },
    test="minus_test.go",
    broken='package calc\n\nimport "testing"\n\nfunc TestMinus(t *testing.T) {\n\tNothing()\n}\n',
    failing=(
        'package calc\n\nimport "testing"\n\nfunc TestMinus(t *testing.T) {\n'
        '\tif Add(1, -2) != -1 {\n\t\tt.Fatal("no")\n\t}\n}\n'
    ),
    repaired={"calc.go": "package calc\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"},
    product="calc.go",
    checks=("test", "lint"),
)
NODE = Language(
    files={
        "package.json": '{"name": "calc", "type": "module", "scripts": {"test": "node --test test/"}}\n',
        "src/calc.js": "export const add = (a, b) => a + Math.abs(b);\n",
        "test/calc.test.js": (
            "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/calc.js';\n"
            "test('adds', () => assert.equal(add(1, 2), 3));\n"
        ),
    },
    test="test/minus.test.js",
    broken="import test from 'node:test';\nimport { nothing } from '../src/nothing.js';\ntest('minus', nothing);\n",
    failing=(
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/calc.js';\n"
        "test('minus', () => assert.equal(add(1, -2), -1));\n"
    ),
    repaired={"src/calc.js": "export const add = (a, b) => a + b;\n"},
    product="src/calc.js",
)
RUST = Language(
    files={
        "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
        "src/lib.rs": (
            "pub fn add(a: i32, b: i32) -> i32 {\n    a + b.abs()\n}\n\n"
            "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n"
        ),
    },
    test="tests/minus.rs",
    broken="#[test]\nfn minus() {\n    calc::nothing();\n}\n",
    failing="#[test]\nfn minus() {\n    assert_eq!(calc::add(1, -2), -1);\n}\n",
    repaired={
        "src/lib.rs": (
            "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n"
            "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n"
        )
    },
    product="src/lib.rs",
    ignored="target/\n",
)


@dataclass(frozen=True, slots=True)
class Room:
    """A repository of a language, and a home for Handrail."""

    root: Path
    home: Path

    def git(self, *words: str) -> None:
        """Call git in the repository."""
        subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)

    def handrail(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Call Handrail in the repository."""
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
        own = {"HANDRAIL_HOME": str(self.home), "LOGNAME": "ann", "COLUMNS": "100"}
        env = {**kept, **rust_folders(), **own}
        return subprocess.run([HANDRAIL, *words], cwd=self.root, env=env, capture_output=True, text=True, check=False)


def rust_folders() -> dict[str, str]:
    """Name the folders of a Rust that rustup installed, which may be another user's than the home of this test."""
    cargo = Path(shutil.which("cargo") or "/usr/bin/cargo")
    home = cargo.parent.parent.parent
    if cargo.parent.parent.name != ".cargo" or not (home / ".rustup").is_dir():
        return {}
    folders = {"RUSTUP_HOME": str(home / ".rustup"), "CARGO_HOME": str(home / ".cargo")}
    return {**folders, "HANDRAIL_PASS_ENV": ",".join(folders)}


def room_of(folder: Path, language: Language) -> Room:
    """Make a repository of a language."""
    room = Room(folder / "calc", folder / "home")
    room.root.mkdir()
    for name, text in {**language.files, ".gitignore": language.ignored}.items():
        path = room.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    room.git("init", "-q", "-b", "trunk")
    room.git("config", "user.name", "Ann")
    room.git("config", "user.email", "ann@example.org")
    room.git("add", "-A")
    room.git("commit", "-qm", "Start")
    return room


def play(language: Language, folder: Path) -> Path:
    """Write what the agent does: a test that does not compile, one that touches the product, a good one, the fix."""
    found = {"test": language.test, "cause": "it takes the absolute value", "confidence": "high"}
    product = language.files[language.product]
    turns: dict[str, Any] = {
        "reproduce": [
            {"files": {language.test: language.broken}, "output": found},
            {"files": {language.test: language.failing, language.product: product + "\n"}, "output": found},
            {"files": {language.product: product}, "output": found},
        ],
        "fix": [{"files": language.repaired, "say": "It adds now."}],
    }
    path = folder / "play.json"
    path.write_text(json.dumps(turns))
    return path
