"""Implements the port `LineHistory`, by running git."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from shlex import quote

from handrail.errors import HandrailError, NotFound, UsageError, WorkspaceFault
from handrail.ports.line_history import Ancestry, BlamedLine, CommitFacts, PinnedWork, TrackedFile
from handrail.workspace.git import repositories
from handrail.workspace.git.command import Git
from handrail.workspace.snapshots.state import REFS, parse_message

_HEADER = re.compile(rb"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?")
_IDENTITY = re.compile(r"(.*?) ?<([^>]*)> (\d+) [+-]\d+")
_FILE_MODES = ("100644", "100755", "100664")
_SHORT = 12
_SNIFFED = 8000
"""How many bytes git looks at to tell text from binary data."""


class GitLineHistory:
    """The history of lines in repositories on this machine."""

    def __init__(self, open_git: Callable[[Path], Git]) -> None:
        self._open = open_git

    def find_file(self, file: Path, revision: str) -> TrackedFile:
        """Find the repository of a file, and refuse what has no lines there."""
        root = _find_root(file)
        path = _path_below(root, file)
        git = self._open(root)
        commit = _resolve(git, revision)
        mode, _, named = git.line("ls-tree", "--full-tree", commit, "--", path).partition(" ")
        if not named:
            raise _missing_error(git, file, path, revision)
        if mode not in _FILE_MODES:
            kind = {"040000": "a folder", "120000": "a symbolic link", "160000": "a submodule"}.get(mode, "not a file")
            raise UsageError(f"{file} is {kind}: only files have lines", next_step="name a file")
        found = TrackedFile(root, path, commit if revision else "")
        if b"\0" in _content(git, file, found)[:_SNIFFED]:
            message = f"{file} is a binary file: it has no lines"
            raise UsageError(message, next_step=f"see its commits: git log --follow -- {quote(str(file))}")
        return found

    def blame(self, file: TrackedFile, ancestry: Ancestry) -> tuple[BlamedLine, ...]:
        """Find the commit that each line came from."""
        grafts = "".join(f"{' '.join((commit, *parents))}\n" for commit, parents in ancestry.items()).encode()
        words = ["blame", "--line-porcelain", "-M", *(["-S", "/dev/stdin"] if grafts else [])]
        words += [*([file.revision] if file.revision else []), "--", file.path]
        return tuple(_parse_blame(self._open(file.root).out(*words, stdin=grafts)))

    def read_commits(self, root: Path, commits: Iterable[str]) -> dict[str, CommitFacts]:
        """Read commits; those that are missing are left out."""
        names = tuple(dict.fromkeys(name for name in commits if name))
        if not names:
            return {}
        git = self._open(root)
        ends = _shallow_ends(root)
        out, found = git.out("cat-file", "--batch", stdin="\n".join(names).encode() + b"\n"), dict[str, CommitFacts]()
        for name in names:
            head, _, rest = out.partition(b"\n")
            kind = head.split(b" ")
            if len(kind) != 3 or not kind[2].isdigit():
                out = rest
                continue
            size = int(kind[2])
            if kind[1] == b"commit":
                found[name] = _parse_commit(name, rest[:size], cut_off=name in ends)
            out = rest[size + 1 :]
        return found

    def list_commits(self, root: Path, since: str, until: str, *, first_parent: bool = False) -> tuple[str, ...]:
        """List the commits that came after a commit; none if one is missing."""
        words = ("rev-list", *(["--first-parent"] if first_parent else []), until, f"^{since}", "--")
        ran = self._open(root).run(*words, ok=(0, 128))
        return () if ran.code else tuple(ran.out.decode().split())

    def list_descendants(self, root: Path, commit: str, until: str) -> frozenset[str]:
        """List the commits that contain a commit, up to another one."""
        ran = self._open(root).run("rev-list", "--ancestry-path", f"{commit}..{until}", "--", ok=(0, 128))
        return frozenset() if ran.code else frozenset(ran.out.decode().split())

    def list_pins(self, root: Path) -> tuple[PinnedWork, ...]:
        """List the refs that keep work of runs."""
        listing = self._open(root).line("for-each-ref", "--format=%(refname) %(objectname)", REFS)
        return tuple(
            pin
            for ref, _, commit in (line.partition(" ") for line in listing.splitlines())
            if (pin := _pin(ref.removeprefix(REFS).split("/"), commit)) is not None
        )

    def find_files(self, root: Path, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the object of each file that exists."""
        asked = [name for name in dict.fromkeys(names) if "\n" not in name[1]]
        if not asked:
            return {}
        text = "".join(f"{commit}:{path}\n" for commit, path in asked)
        out = self._open(root).out("cat-file", "--batch-check", stdin=os.fsencode(text)).splitlines()
        return {
            name: row.split(b" ")[0].decode()
            for name, row in zip(asked, out, strict=False)
            if len(row.split(b" ")) == 3 and row.split(b" ")[1] == b"blob"
        }

    def count_changed_lines(self, root: Path, old: str, new: str) -> int:
        """Count the lines by which two files differ."""
        words = ("diff", "--no-ext-diff", "--no-textconv", "--histogram", "--numstat", old, new, "--")
        counts = self._open(root).line(*words).split("\t")[:2]
        return sum(int(each) for each in counts if each.isdigit())


def _find_root(file: Path) -> Path:
    """Find the root of the repository around a file, which may have been deleted."""
    folder = next(folder for folder in file.absolute().parents if folder.is_dir())
    return repositories.find_root(folder)


def _path_below(root: Path, file: Path) -> str:
    # The folders are resolved, since the root is; the file itself may be a link.
    whole = file.absolute()
    path = os.path.relpath(whole.parent.resolve() / whole.name, root)
    if path == ".." or path.startswith("../"):
        raise UsageError(f"{file} is outside the repository {root}", next_step="name a file of the repository")
    return path


def _resolve(git: Git, revision: str) -> str:
    if revision:
        return repositories.commit_of(git, revision)
    return repositories.head(git).commit


def _missing_error(git: Git, file: Path, path: str, revision: str) -> HandrailError:
    where, name = revision or "HEAD", quote(str(file))
    if not revision and (git.where / path).is_file():
        return NotFound(f"{file} is not committed yet, so nobody owns its lines", next_step=f"git add {name}")
    last = git.query("log", "-1", "--format=%H %P", "--diff-filter=D", where, "--", f":(literal){path}") or ""
    if last:
        commit, parent, *_ = last.split()
        message = f"{file} is not in {where}: it was deleted in {commit[:_SHORT]}"
        return NotFound(message, next_step=f"handrail blame {name} --rev {parent[:_SHORT]}")
    return NotFound(f"there is no {file} in {where}", next_step="name a file that is committed")


def _content(git: Git, file: Path, found: TrackedFile) -> bytes:
    if found.revision:
        return git.out("cat-file", "blob", f"{found.revision}:{found.path}")
    try:
        return (git.where / found.path).read_bytes()
    except FileNotFoundError:
        message = f"{file} was deleted in the checkout, which is not committed yet"
        raise NotFound(message, next_step=f"handrail blame {quote(str(file))} --rev HEAD") from None
    except OSError as error:
        raise WorkspaceFault(f"{file} cannot be read: {error.strerror}", next_step="check its permissions") from error


def _parse_blame(out: bytes) -> list[BlamedLine]:
    found: list[BlamedLine] = []
    commit, number, path = "", 0, ""
    for row in out.split(b"\n"):
        if row.startswith(b"\t"):
            found.append(BlamedLine(number, row[1:].decode("utf-8", "backslashreplace"), commit, path))
        elif header := _HEADER.fullmatch(row):
            commit, number = header[1].decode().strip("0") and header[1].decode(), int(header[3])
        elif row.startswith(b"filename "):
            path = _unquote(row.removeprefix(b"filename "))
    return found


def _unquote(name: bytes) -> str:
    """Read a path as git writes it: in quotes where it has special characters."""
    if name.startswith(b'"'):
        name = name[1:-1].decode("unicode_escape").encode("latin-1")
    return os.fsdecode(name)


def _parse_commit(name: str, data: bytes, *, cut_off: bool) -> CommitFacts:
    head, _, message = data.decode("utf-8", "replace").partition("\n\n")
    rows = [row.partition(" ")[::2] for row in head.split("\n")]
    author, committer = (_identity(next((text for key, text in rows if key == who), "")) for who in _WHO)
    state = parse_message(message)
    return CommitFacts(
        commit=name,
        parents=tuple(text for key, text in rows if key == "parent"),
        author=author[0],
        email=author[1],
        authored_at=author[2],
        committed_at=committer[2],
        message=message,
        snapshot_of="" if state is None else state.run,
        head="" if state is None else state.head,
        cut_off=cut_off,
    )


_WHO = ("author", "committer")


def _identity(text: str) -> tuple[str, str, int]:
    found = _IDENTITY.fullmatch(text)
    return (found[1], found[2], int(found[3])) if found else (text, "", 0)


def _shallow_ends(root: Path) -> frozenset[str]:
    try:
        return frozenset((repositories.common_dir(root) / "shallow").read_text("ascii", "replace").split())
    except OSError:
        return frozenset()


def _pin(words: list[str], commit: str) -> PinnedWork | None:
    match words:
        case [run]:
            return PinnedWork(run, commit)
        case ["kept", run, _]:
            return PinnedWork(run, commit)
        case ["applied", run]:
            return PinnedWork(run, commit, "after/", "before/")
        case _:
            return None
