"""The rules by which git ignores and converts files: all rule files and settings at one moment, in one text.

An agent may edit `.gitignore`, `.git/info/exclude` and `.gitattributes`, including files that ignore themselves. What a
step changed is therefore determined by the rules that held when it began: they are stored with the snapshot, and given
to git in place of those in the worktree. Patterns of a nested file are rewritten relative to the root; later lines take
precedence, as more deeply nested files do.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import cast

from handrail.frozen import frozen
from handrail.workspace.git.command import Git, GitFolders, split
from handrail.workspace.git.data_places import replace_file
from handrail.workspace.git.repository_view import ATTRIBUTES, IGNORE, OWN_ATTRIBUTES, OWN_IGNORE

IGNORE_FILE, ATTRIBUTES_FILE = b".gitignore", b".gitattributes"
_CONVERTING = (
    *("text", "eol", "crlf", "ident", "filter", "working-tree-encoding"),
    *("diff", "merge", "whitespace", "conflict-marker-size"),
)
# In this file they override everything before, so that no file of the worktree adds to what follows.
_FRESH = b"[attr]binary -diff -merge -text\n* " + b" ".join(f"!{name}".encode() for name in _CONVERTING) + b"\n"
_SPECIAL = re.compile(rb"([*?\[\\])")
_BOM = b"\xef\xbb\xbf"
_MAX_BYTES = 1 << 20
_PINNED, _IN_FORCE = "ignore-rules", "info/attributes"
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


@frozen
class Rules:
    """What git ignores, and how it converts files."""

    ignore: bytes
    attributes: bytes

    def text(self) -> bytes:
        """Serialize the rules."""
        return json.dumps({"ignore": os.fsdecode(self.ignore), "attributes": os.fsdecode(self.attributes)}).encode()


def read_rules(text: bytes) -> Rules:
    """Parse the output of `Rules.text`."""
    data = cast("dict[str, str]", json.loads(text))
    return Rules(os.fsencode(data["ignore"]), os.fsencode(data["attributes"]))


def is_rule_file(path: bytes) -> bool:
    """Whether a file is a rule file by its name."""
    return path.rpartition(b"/")[2] in (IGNORE_FILE, ATTRIBUTES_FILE)


@frozen
class SnapshotRules:
    """The rules of the snapshots of one worktree, and those in force in its view."""

    git: Git
    """Git with our own index."""
    folder: Path

    def pin(self, blob: str) -> None:
        """Put rules in force, or those on disk where none are named."""
        view = self.git.active_view.folder
        wanted = read_rules(self._text(blob)) if blob else Rules(b"", (view / OWN_ATTRIBUTES).read_bytes())
        replace_file(view / _IN_FORCE, wanted.attributes)
        replace_file(self.folder / _PINNED, wanted.ignore)

    def files(self) -> tuple[Path, ...]:
        """List the files of the rules in force, and of those outside the worktree."""
        view = self.git.active_view.folder
        names = (IGNORE, ATTRIBUTES, OWN_IGNORE, OWN_ATTRIBUTES, _IN_FORCE)
        return (self.folder / _PINNED, *(view / name for name in names))

    def exclude_options(self, blob: str) -> tuple[str, ...]:
        """Return the options that make `git ls-files` ignore by the rules in force."""
        return (f"--exclude-from={self.folder / _PINNED}",) if blob else ("--exclude-standard",)

    def digest_hidden(self, ignored: Iterable[bytes]) -> dict[str, str]:
        """Return the digests of rule files that are ignored themselves, and of those outside the worktree."""
        root, view = os.fsencode(self.git.where) + b"/", self.git.active_view.folder
        found = {os.fsdecode(path): digest(root + path) for path in ignored if is_rule_file(path)}
        return found | {f"//{name}": digest(os.fsencode(view / name)) for name in (IGNORE, OWN_IGNORE)}

    def keep(self, hidden: Iterable[str]) -> str:
        """Write the rules that the files have now; return the blob."""
        globs = (f":(glob)**/{os.fsdecode(name)}" for name in (IGNORE_FILE, ATTRIBUTES_FILE))
        known = split(self.git.out("ls-files", "-z", "--cached", "--", *globs))
        paths = (*known, *(os.fsencode(name) for name in hidden if not name.startswith("//")))
        text = gather(self.git.where, self.git.active_view, paths).text()
        blob = self.git.line("hash-object", "-w", "--stdin", stdin=text)
        replace_file(self._path(blob), text)
        return blob

    def _text(self, blob: str) -> bytes:
        path = self._path(blob)
        if not path.exists():
            replace_file(path, self.git.out("cat-file", "blob", blob))
        return path.read_bytes()

    def _path(self, blob: str) -> Path:
        folder = self.folder / "rules"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / blob


def gather(root: Path, view: GitFolders, paths: Iterable[bytes]) -> Rules:
    """Collect the rules of a worktree: those of the user, of the repository, and of the given files."""
    known = sorted(set(paths), key=lambda path: (path.count(b"/"), path))
    ignore = [read_plain(view.folder / IGNORE), read_plain(view.folder / OWN_IGNORE)]
    attributes = [_FRESH, read_plain(view.folder / ATTRIBUTES)]
    for path in known:
        folder, _, name = path.rpartition(b"/")
        text = read_plain(Path(os.fsdecode(os.fsencode(root) + b"/" + path)))
        if name == IGNORE_FILE:
            ignore.append(_join_lines(_ignore_patterns(folder, text)))
        else:
            attributes.append(_join_lines(_attribute_lines(folder, text)))
    attributes.append(read_plain(view.folder / OWN_ATTRIBUTES))
    return Rules(_join_lines(ignore), _join_lines(attributes))


def _join_lines(texts: Iterable[bytes]) -> bytes:
    return b"".join(text if text.endswith(b"\n") else text + b"\n" for text in texts if text)


def read_plain(path: Path | bytes) -> bytes:
    """Read the beginning of a file as git reads rules: a link, or what cannot be read, is empty."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(_MAX_BYTES).removeprefix(_BOM)
    except OSError:
        return b""


def _ignore_patterns(folder: bytes, text: bytes) -> Iterator[bytes]:
    for line in text.split(b"\n"):
        pattern = line.removesuffix(b"\r")
        if not pattern.strip() or pattern.startswith(b"#"):
            continue
        if not folder:
            yield pattern
        elif pattern.startswith(b"!"):
            yield b"!" + _anchor_pattern(folder, pattern[1:])
        else:
            yield _anchor_pattern(folder, pattern)


def _anchor_pattern(folder: bytes, pattern: bytes) -> bytes:
    """Rewrite a pattern of a folder as one of the root."""
    start = b"/" + _SPECIAL.sub(rb"\\\1", folder) + b"/"
    body = pattern.rstrip(b" ").removesuffix(b"/")
    return start + pattern.removeprefix(b"/") if b"/" in body else start + b"**/" + pattern


def _attribute_lines(folder: bytes, text: bytes) -> Iterator[bytes]:
    for line in text.split(b"\n"):
        stripped = line.strip(b" \t\r")
        if not stripped or stripped.startswith(b"#"):
            continue
        if not folder:
            yield stripped
        elif not stripped.startswith((b"[attr]", b"!")):
            pattern, rest = _pattern_of(stripped)
            yield _quote(_anchor_pattern(folder, pattern)) + b" " + rest


def _pattern_of(line: bytes) -> tuple[bytes, bytes]:
    """Split a line of attributes into its pattern, which may be quoted, and its attributes."""
    found = re.match(rb'"((?:[^"\\]|\\.)*)"\s*(.*)', line)
    if found:
        unquoted = re.sub(rb"\\([0-7]{3}|.)", lambda at: _character(at[1]), found[1])
        return unquoted, found[2]
    pattern, *rest = line.split(None, 1)
    return pattern, rest[0] if rest else b""


def _character(escape: bytes) -> bytes:
    return bytes([int(escape, 8) & 255]) if len(escape) > 1 else _ESCAPES.get(escape, escape)


def _quote(pattern: bytes) -> bytes:
    plain = pattern.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b'"' + re.sub(rb"[\x00-\x1f]", lambda at: b"\\%03o" % at[0][0], plain) + b'"'


def digest(path: bytes) -> str:
    """Compute the digest of a rule file; empty for one that git would not read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return sha256(file.read()).hexdigest()
    except OSError:
        return ""
