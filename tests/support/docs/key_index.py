"""Draws the alphabetical index of the keys of a format from the tables on its pages."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from support.docs.pages import Table, anchor_before

HEAD = "| key | explained in |\n|---|---|\n"


def draw_key_index(before: str, documented: Iterable[tuple[Table, str]]) -> str:
    """Replace the table of an index page: a row for each key, with links to the tables that explain it."""
    found: dict[str, list[str]] = defaultdict(list)
    for table, what in documented:
        place = f"{PurePosixPath(table.page).name}#{anchor_before(table.page, table.line)}"
        for key in table.firsts:
            found[key].append(f"[{what}]({place})")
    rows = "".join(f"| `{key}` | {', '.join(sorted(found[key]))} |\n" for key in sorted(found))
    return before.partition(HEAD)[0] + HEAD + rows
