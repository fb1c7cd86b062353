"""What lists show of issues can be rebuilt from their facts, and a damaged issue is cut back to what can be read."""

from contextlib import closing
from pathlib import Path

from handrail.model.issue_records import LocalIssue
from handrail.model.secrets.redaction import Redactor
from handrail.ports.log import Append, Holder, Log, NewEvent
from handrail.processes.secret_forms import FORMS
from handrail.store.sqlite.log import open_log
from handrail.trackers.local.book import LocalIssues
from handrail.trackers.local.care import LocalIssueCare


def _issues(log: Log) -> LocalIssues:
    return LocalIssues(log, "/work/shop", lambda: 1000.0, lambda: Redactor({}, FORMS))


def test_a_lost_line_is_found_and_written_again(tmp_path: Path) -> None:
    with closing(open_log(tmp_path)) as log:
        issue = _issues(log).create({"title": "Lost"}, "person:ann")
        stream = LocalIssue(id=issue).ref.stream
        before = log.issue_lines()
        with log._db.writing("test") as session:  # pyright: ignore[reportPrivateUsage]
            session.run("forget_issue", stream)
        assert log.issue_lines() == ()
        assert [(each.part, each.name) for each in LocalIssueCare().examine(log)] == [("issue", issue)]
        assert LocalIssueCare().repair(log) == ()
        assert log.issue_lines() == before
        assert LocalIssueCare().examine(log) == ()


def test_an_issue_with_a_fact_that_cannot_be_read_is_cut_back(tmp_path: Path) -> None:
    with closing(open_log(tmp_path)) as log:
        issue = _issues(log).create({"title": "Damaged"}, "person:ann")
        stream = LocalIssue(id=issue).ref.stream
        lease = log.acquire(stream, "test")
        assert not isinstance(lease, Holder)
        log.append([Append(stream, 1, (NewEvent("issue_edited", 1, b'{"nonsense":1}'),))], [lease])
        log.release(lease)
        (found,) = LocalIssueCare().examine(log)
        assert (found.part, found.name, found.intact) == ("issue", issue, 1)
        (cut,) = LocalIssueCare().repair(log)
        assert (cut.stream, cut.kept) == (stream, 1)
        assert _issues(log).read(issue).text("title") == "Damaged"
        assert LocalIssueCare().examine(log) == ()
        assert [line.id for line in log.issue_lines()] == [issue]
