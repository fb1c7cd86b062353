"""The small project `shop` of the tutorial and the cookbook, as a git repository with a user of its own."""

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from handrail.operations.driving.background_driver import find_background_driver
from handrail.sources.folders import user_folders

FILES = {
    ".gitignore": "__pycache__/\n",
    "shop/__init__.py": "",
    "shop/cart.py": (
        '"""What a customer wants to buy."""\n\n\n'
        "def total(lines):\n"
        '    """Add up the prices of all lines, each a price and a quantity."""\n'
        "    return sum(price for price, quantity in lines)\n"
    ),
    "shop/mail.py": 'def subject(order):\n    return "Your order %s" % order\n',
    "shop/label.py": 'def label(name):\n    return "To: %s" % name\n',
    "tests/__init__.py": "",
    "tests/test_cart.py": (
        "import unittest\n\nfrom shop.cart import total\n\n\n"
        "class TotalTest(unittest.TestCase):\n"
        "    def test_an_empty_cart_costs_nothing(self):\n"
        "        self.assertEqual(total([]), 0)\n"
    ),
    "docs/manual.md": "# Shop\n\n`total(lines)` adds up the prices.\n",
    "deps.txt": "clock 1.4\nmail 2.0\n",
    ".handrail/config.toml": '[checks]\ntest = "python3 -m unittest -q"\n',
}
IDENTITY = "[user]\n\tname = Ada\n\temail = ada@example.org\n"
PAUSED = 130
DATA = "~/.local/share/handrail"
MASKS = (
    (re.compile(r"(?<= )\d+(\.\d)? s(?=,| ✓)"), "1 s"),
    (re.compile(r"(?<=git )\d+(\.\d+)+"), "2.45"),
    (re.compile(r"(?<![\w.])(\d+m)?\d+(\.\d+)?s\b"), "0.1s"),
    (re.compile(r"pinned [0-9a-f]{4}"), "pinned 4f2a"),
    (re.compile(r"(?<=/)(shop-)[0-9a-f]{8}(?=/)"), r"\g<1>1b9d04c2"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "9c3e5a7b0d12f4689c3e5a7b0d12f4689c3e5a7b"),
    (re.compile(r"(?<=index )[0-9a-f]{7}\.\.[0-9a-f]{7}"), "3e5a7b0..d12f468"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9]*[a-f])[0-9a-f]{12}\b"), "9c3e5a7b0d12"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "2026-11-16T09:30:00Z"),
    (re.compile(r"(?<=scripted-)[0-9a-f]{16}"), "31e008f0834e3887"),
    (re.compile(r"(?<=process )\d+"), "4711"),
)


@dataclass(frozen=True, slots=True)
class DocShop:
    """The project and the folder of the person who works on it."""

    root: Path
    home: Path

    def begin(self, files: dict[str, str]) -> None:
        """Make the repository, with one commit on `main`."""
        self.home.mkdir()
        (self.home / ".gitconfig").write_text(IDENTITY, "utf-8")
        self.root.mkdir()
        for path, text in files.items():
            self.write(path, text)
        self.git("init", "-q", "-b", "main")
        self.commit("Start")

    def write(self, path: str, text: str) -> None:
        """Write a file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def commit(self, message: str) -> None:
        """Commit everything there is."""
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def git(self, *words: str) -> str:
        """Call git in the project."""
        done = subprocess.run(["git", *words], cwd=self.root, env=self.environ(), capture_output=True, check=False)
        assert not done.returncode, f"git {words}: {done.stderr.decode(errors='replace')}"
        return os.fsdecode(done.stdout)

    def environ(self) -> dict[str, str]:
        """Give the environment of a person who calls Handrail here."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        own = {"HOME": str(self.home), "HANDRAIL_HOME": str(self.home / "handrail"), "LOGNAME": "ada", "COLUMNS": "120"}
        # A file that is written twice within a second, at the same length, would be run from its old bytecode.
        own |= {"PYTHONDONTWRITEBYTECODE": "1", "HANDRAIL_PASS_ENV": "PYTHONDONTWRITEBYTECODE"}
        return {"PATH": path, "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1", **own}

    def run(self, line: str) -> tuple[int, str]:
        """Run a command line as a person would, on a pipe; give its exit code and all that it prints, masked."""
        done = subprocess.run(
            ["sh", "-c", f"exec 2>&1; {line}"],
            cwd=self.root,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, self.masked(done.stdout)

    def interrupted(self, line: str, at: str) -> str:
        """Run a command and press Ctrl-C as soon as it prints a line that begins with a text."""
        with subprocess.Popen(
            ["sh", "-c", f"exec 2>&1; exec {line}"],
            cwd=self.root,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            printed = ""
            for each in process.stdout:
                printed += each
                if each.startswith(at):
                    process.send_signal(signal.SIGINT)
        assert process.returncode == PAUSED, printed
        return self.masked(printed)

    def masked(self, text: str) -> str:
        """Mask what differs from one day or machine to the next."""
        text = text.replace(str(self.home / "handrail" / "data"), DATA).replace(str(self.root), "~/shop")
        for pattern, word in MASKS:
            text = pattern.sub(word, text)
        return text

    def end(self) -> None:
        """End the background driver, if a command started one."""
        running = find_background_driver(user_folders(self.environ()))
        if running is not None:
            os.kill(running.pid, signal.SIGTERM)
