"""One file that connects a client: its state, writing it, and removing what was written."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.operations.atomic_files import replace_file
from handrail.operations.connect.config_text import (
    Data,
    UneditableText,
    find_entry,
    insertion,
    read_config,
    remove_entry,
    write_entry,
)
from handrail.operations.connect.receipts import Receipt, Receipts
from handrail.ports.agent_profiles import ConfigForm, UserPath
from handrail.sources.foreign_files import printable, reason

State: TypeAlias = Literal["absent", "present", "different", "unreadable"]
_BOM = "\ufeff"
_OTHER = "another entry called 'handrail'"
_NOT_OURS = "which was not written by this command"


@frozen(kw_only=True)
class FileTarget:
    """What a file should hold."""

    path: Path
    """The file itself, with links resolved."""
    form: ConfigForm | None
    """None if the whole file is Handrail's, as a skill is."""
    table: str = ""
    entry: Data
    whole: str = ""
    """The text of a file that is entirely Handrail's."""

    @property
    def lines(self) -> str:
        """What a person would write by hand."""
        return self.whole if self.form is None else write_entry(self.form, self.table, self.entry)


@frozen
class FileStatus:
    """The state of a file."""

    state: State
    text: str | None
    """The content; None if there is no file."""
    problem: str = ""


def look_at(target: FileTarget, receipts: Receipts) -> FileStatus:
    """Compare a file with what it should hold."""
    try:
        text = _read(target.path)
        if text is None or (target.form is not None and _entry(target, text) is None):
            return FileStatus("absent", text)
        same = text == target.whole if target.form is None else _entry(target, text) == target.entry
        ours = receipts.find(target.path) is not None
        problem = (
            "" if same or ours else f"it contains {'another text' if target.form is None else _OTHER}, {_NOT_OURS}"
        )
        return FileStatus("present" if same else "different", text, problem)
    except UneditableText as error:
        return FileStatus("unreadable", None, str(error))


def write(target: FileTarget, receipts: Receipts) -> bool:
    """Write what is missing, and return whether anything was; what somebody else wrote is never replaced."""
    standing = look_at(target, receipts)
    if standing.state == "present":
        return False
    if standing.problem:
        raise _refusal(target, standing.problem)
    if standing.state == "different":
        take_back(target, receipts)
        standing = look_at(target, receipts)
    text = standing.text or ""
    try:
        at, words = (0, target.whole) if target.form is None else _find_insertion(target, text)
    except UneditableText as error:
        raise _refusal(target, str(error)) from error
    made = _make_folders(target.path.parent)
    has_table = target.form is not None and target.table in read_config(target.form, text.removeprefix(_BOM))
    # Recorded first: what was written and not recorded could not be removed again.
    receipts.keep(target.path, Receipt(words, not has_table, made, standing.text is None))
    replace_file(target.path, (text[:at] + words + text[at:]).encode())
    return True


def take_back(target: FileTarget, receipts: Receipts) -> bool:
    """Remove what was written, and return whether there was anything."""
    receipt, text = receipts.find(target.path), _read_or_refuse(target)
    if receipt is None:
        if look_at(target, receipts).state in ("present", "different"):
            raise _refusal(target, "its content was not written by this command")
        return False
    left = _remove_insertion(target, text or "", receipt)
    if text is not None and receipt.file and _is_empty(target, left):
        target.path.unlink()
        # A folder in which something else is stays.
        with suppress(OSError):
            for each in reversed(receipt.folders):
                Path(each).rmdir()
    elif text is not None:
        replace_file(target.path, left.encode())
    receipts.keep(target.path, None)
    return text is not None and left != text


def _remove_insertion(target: FileTarget, text: str, receipt: Receipt) -> str:
    """Return what remains: the text around the insertion, or if the file was rewritten, all but the entry."""
    if text.count(receipt.text) == 1:
        left = text.replace(receipt.text, "")
        if target.form is None or _is_gone(target, left):
            return left
    if target.form is None:
        if not text:
            return text
        raise _refusal(target, "it has been changed since it was written", remove=True)
    try:
        if _entry(target, text) is None:
            return text
        plain = text.removeprefix(_BOM)
        mark = text[: len(text) - len(plain)]
        return mark + remove_entry(target.form, plain, target.table, with_table=receipt.table)
    except UneditableText as error:
        raise _refusal(target, str(error), remove=True) from error


def _is_gone(target: FileTarget, text: str) -> bool:
    try:
        return _entry(target, text) is None
    except UneditableText:
        return False


def _is_empty(target: FileTarget, text: str) -> bool:
    return not text.strip() or (target.form == "json" and not read_config("json", text.removeprefix(_BOM)))


def _entry(target: FileTarget, text: str) -> Data | None:
    return None if target.form is None else find_entry(target.form, text.removeprefix(_BOM), target.table)


def _find_insertion(target: FileTarget, text: str) -> tuple[int, str]:
    mark = len(text) - len(text.removeprefix(_BOM))
    if target.form is None:
        raise UneditableText("it is not a configuration")
    at, words = insertion(target.form, text[mark:], target.table, target.entry)
    return at + mark, words


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise UneditableText("it is not UTF-8 text") from error
    except OSError as error:
        raise UneditableText(f"it cannot be read: {reason(error)}") from error


def _read_or_refuse(target: FileTarget) -> str | None:
    try:
        return _read(target.path)
    except UneditableText as error:
        raise _refusal(target, str(error), remove=True) from error


def _refusal(target: FileTarget, why: str, *, remove: bool = False) -> UsageError:
    shown = printable(str(target.path))
    if target.form is None:
        return UsageError(
            f"{shown} was not changed: {why}", next_step="check it, and remove it yourself if it is not needed"
        )
    verb = "remove from it" if remove else "add to it"
    return UsageError(f"{shown} was not changed: {why}", next_step=f"{verb} by hand:\n\n{target.lines}")


def _make_folders(folder: Path) -> tuple[str, ...]:
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{printable(str(folder))} cannot be created: {reason(error)}") from error
    return tuple(str(each) for each in reversed(missing))


def path_of_user(at: UserPath, environ: Mapping[str, str], home: Path) -> Path:
    """Return the path of a user's file or folder."""
    set_to = environ.get(at.variable, "") if at.variable else ""
    base = Path(set_to).expanduser().absolute() if set_to else home
    every = [base / each for each in (at.below if set_to else at.at)]
    existing = next((each for each in every if each.exists()), None)
    return existing or next((each for each in every if each.parent.is_dir()), every[0])


def path_in_project(root: Path, name: str) -> Path:
    """Return the path of a file in a repository; refuse one that leads out of it."""
    real = (root / name).resolve()
    if not real.is_relative_to(root.resolve()):
        raise UsageError(f"'{name}' of this repository is a link that leads to '{printable(str(real))}'")
    return real
