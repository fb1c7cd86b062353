"""Lists are read by an index, whatever they are filtered by."""

from pathlib import Path

import pytest

from handrail.model.history.run_lines import Filter
from handrail.store.sqlite.connection import FILE, Session
from handrail.store.sqlite.log import open_log
from handrail.store.sqlite.summaries import select_rows

WANTED = {
    "newest": Filter(top=True, order="started", limit=1),
    "page": Filter(top=True, order="started", limit=9, before=(5.0, "x")),
    "status": Filter(status="failed", top=True, order="started", limit=9),
    "workflow": Filter(workflow="w", top=True, order="started", limit=9),
    "repository": Filter(repositories=("r",), top=True, order="started", limit=9),
    "family": Filter(root="r", order="made"),
    "families": Filter(roots=("r", "s"), order="made"),
    "notices": Filter(roots=("r", "s"), holding=("tried", "git_changes"), order="made"),
    "pull requests": Filter(prefix="pr:", runs_only=False, roots=("r", "s"), order="made"),
    "children": Filter(parent="r", order="made"),
    "prefix": Filter(prefix="work-"),
    "one": Filter(key="work-1"),
}


@pytest.mark.parametrize("name", WANTED)
def test_no_list_reads_every_row(tmp_path: Path, name: str) -> None:
    open_log(tmp_path).close()
    session = Session(tmp_path / FILE, 0)
    asked: list[tuple[str, object]] = []

    def trace(_: object, text: str, bindings: object) -> bool:
        asked.append((text, bindings))
        return True

    session.raw.exec_trace = trace
    select_rows(session, WANTED[name])
    session.raw.exec_trace = None
    ((text, bindings),) = asked
    plan = [str(row[3]) for row in session.execute(f"EXPLAIN QUERY PLAN {text}", bindings).fetchall()]  # type: ignore[arg-type]
    session.raw.close()
    assert plan[0].startswith("SEARCH streams USING"), plan
    if WANTED[name].order == "started":
        assert len(plan) == 1, f"sorted by the index: {plan}"
