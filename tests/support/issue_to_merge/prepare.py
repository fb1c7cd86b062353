"""Prepares the repository of a room."""

from support.cli.languages import Language
from support.issue_to_merge.host_room import HostRoom


def prepare(room: HostRoom, language: Language) -> None:
    """Let the repository be one of a language, prepared by `init`."""
    room.box.git("rm", "-q", "app.txt")
    for name, text in {**language.files, ".gitignore": language.ignored}.items():
        room.box.write(name, text)
    room.box.commit()
    room.call("init", "--yes")
    room.publish()
