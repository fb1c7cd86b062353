"""Filters that only the repository's own configuration defines: our git never runs them (`repository_view`).

Files that such a filter would convert (git-crypt, `git lfs install --local`) are in our worktrees in their stored form,
and what is written there would be stored unconverted: a secret in plain text. Snapshots are private and hold the raw
bytes; bringing them to a branch or a checkout is refused.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.workspace.git.command import Git, decode_path, split
from handrail.workspace.git.data_places import replace_file
from handrail.workspace.git.repository_view import OWN_ATTRIBUTES, GitSetting, read_settings

_CLEANS = re.compile(r"filter\.(.*)\.(clean|process)", re.DOTALL)
_REPOSITORYS = ("local", "worktree")
_NAMED = re.compile(rb"(?:^|\s)filter=(\S+)")
_SHOWN = 5
_INFO = "info/attributes"


def find_unused_filters(git: Git) -> frozenset[str]:
    """Return the names of the filters that the repository configures and our git does not run."""
    view = git.active_view
    settings = read_settings(git.where, view.own)
    ours = git.run("config", "-z", "--get-regexp", r"^filter\.", ok=(0, 1)).out
    known = {found[1] for entry in split(ours) if (found := _CLEANS.fullmatch(decode_path(entry.partition(b"\n")[0])))}
    return frozenset(_find_clean_filters(settings)) - known


def _find_clean_filters(settings: Iterable[GitSetting]) -> Iterator[str]:
    for each in settings:
        found = _CLEANS.fullmatch(each.key)
        if found and each.scope in _REPOSITORYS and each.value:
            yield found[1]


def describe_unused(git: Git) -> tuple[str, ...]:
    """Describe the filters that apply to files of the worktree, by the patterns that name them, and what to do."""
    unused = find_unused_filters(git)
    patterns = _patterns(git, unused) if unused else {}
    return tuple(
        f"the filter '{name}' ({', '.join(found[:_SHOWN])}) is configured only in the repository, so Handrail does "
        f"not run it: new or changed files of that kind cannot be committed, merged or applied. {_advise(name)}"
        for name, found in sorted(patterns.items())
    )


def refuse_unfiltered(git: Git, paths: Sequence[bytes], tree: Path) -> None:
    """Refuse to commit or deliver files of a run's worktree that a filter would have converted."""
    unused = find_unused_filters(git) if paths else frozenset[str]()
    found = _find_filtered_files(git, paths, unused) if unused else {}
    if not found:
        return
    names = tuple(map(decode_path, found))
    filters = sorted(set(found.values()))
    patterns = ", ".join(dict.fromkeys(each for name in filters for each in _patterns(git, {name}).get(name, ())))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    message = (
        f"{', '.join(names[:_SHOWN])}{more} in {tree} would be stored unfiltered: the filter "
        f"'{', '.join(filters)}' ({patterns}) is configured only in the repository, so Handrail does not run it"
    )
    raise WorkspaceFault(message, next_step=_advise(filters[0], tree), files=names)


def _advise(name: str, where: Path | None = None) -> str:
    there = "do not change such files" if where is None else f"copy these files from {where} and restore them there"
    return (
        f"configure it in your own configuration (git config --global filter.{name}.clean ..., and smudge) before the "
        f"run starts, or {there}"
    )


def _find_filtered_files(git: Git, paths: Sequence[bytes], unused: Collection[str]) -> dict[bytes, str]:
    """Return the files to which such a filter applies, by the rules in force or by those on disk."""
    rules = git.active_view.folder / _INFO
    in_force = rules.read_bytes()
    found = _match_filters(git, paths, unused)
    own = (git.active_view.folder / OWN_ATTRIBUTES).read_bytes()
    if own == in_force:
        return found
    try:
        replace_file(rules, own)
        return found | _match_filters(git, paths, unused)
    finally:
        replace_file(rules, in_force)


def _match_filters(git: Git, paths: Sequence[bytes], unused: Collection[str]) -> dict[bytes, str]:
    fields = split(git.out("check-attr", "-z", "--stdin", "filter", stdin=b"".join(path + b"\0" for path in paths)))
    rows = zip(fields[::3], fields[2::3], strict=True)
    return {path: decode_path(value) for path, value in rows if decode_path(value) in unused}


def _patterns(git: Git, unused: Collection[str]) -> dict[str, list[str]]:
    """Collect the file patterns that name a filter, as they are written."""
    listing = git.out("ls-files", "-z", "--cached", "--others", "--", ":(glob)**/.gitattributes")
    files = [git.where / path.decode(errors="surrogateescape") for path in split(listing)]
    found: dict[str, list[str]] = {}
    for path in (*dict.fromkeys(files), git.active_view.folder / OWN_ATTRIBUTES):
        for line in path.read_bytes().splitlines() if path.is_file() else ():
            named = _NAMED.search(line)
            if named and decode_path(named[1]) in unused and not line.startswith(b"#"):
                found.setdefault(decode_path(named[1]), []).append(decode_path(line.split()[0]))
    return found
