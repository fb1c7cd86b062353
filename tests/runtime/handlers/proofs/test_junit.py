"""Reports of tests as proof: counted, fresh, and read as what comes from outside."""

import os
import time
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.model.workflow.proofs import ReportProof
from handrail.model.workflow.values import Constant, JsonValue
from handrail.runtime.handlers.proofs.junit import MAX_BYTES, ReportCounts, read_junit
from support.runtime.proof_room import ProofRoom, passes

GOOD = '<testsuites><testsuite tests="2"><testcase name="a"/><testcase name="b"/></testsuite></testsuites>'
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE t [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(12))
    + "]><testsuite><testcase>&m;</testcase></testsuite>"
)
OUTSIDE = '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase>&x;</testcase></testsuite>'


@pytest.fixture
def room(tmp_path: Path) -> ProofRoom:
    return ProofRoom(tmp_path)


def report(path: JsonValue = "r.xml", least: int = 1) -> ReportProof:
    return ReportProof(Constant(path), least)


def test_a_report_in_which_enough_tests_ran_and_none_failed_is_proof(room: ProofRoom) -> None:
    room.write("r.xml", GOOD)
    result = room.one(report(least=2))
    assert (result.ok, result.what, result.detail) == snapshot(
        (True, "r.xml shows that at least 2 tests ran and none failed", "2 tests, 0 failed, 0 errors, 0 skipped")
    )


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        (GOOD, ReportCounts(2, 0, 0, 0)),
        (
            "<testsuite><testcase><failure/><failure/></testcase><testcase><error/></testcase></testsuite>",
            ReportCounts(2, 1, 1, 0),
        ),
        ("<testsuite><testcase><skipped/></testcase><testcase status='notrun'/></testsuite>", ReportCounts(2, 0, 0, 2)),
        ("<testsuite errors='1'/>", ReportCounts(0, 0, 1, 0)),
        ("<testsuite failures='x' errors='-1'><testcase/></testsuite>", ReportCounts(1, 0, 0, 0)),
        ("<testsuite><error/><testcase/></testsuite>", ReportCounts(1, 0, 1, 0)),
        ("<j:testsuite xmlns:j='u'><j:testcase><j:failure/></j:testcase></j:testsuite>", ReportCounts(1, 1, 0, 0)),
        (
            "<testsuite><testcase><out><![CDATA[<!DOCTYPE html><failure/>]]></out></testcase></testsuite>",
            ReportCounts(1, 0, 0, 0),
        ),
    ],
)
def test_the_tests_of_a_report_are_counted(text: str, counted: ReportCounts) -> None:
    assert read_junit(text.encode()) == counted
    assert read_junit(text.encode("utf-16")) == counted


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("<testsuite><testcase><failure/></testcase><testcase/></testsuite>", 1),
        ("<testsuite><testcase><error/></testcase><testcase/></testsuite>", 1),
        ("<testsuite><testcase><skipped/></testcase></testsuite>", 1),
        (GOOD, 3),
        ("<testsuite/>", 1),
        ("", 1),
        ("{}", 1),
        ("<html/>", 1),
        ("<testsuite><testcase>", 1),
        (LAUGHS, 1),
        (OUTSIDE, 1),
        ("<!--" + "x" * 5000 + "-->" + GOOD, 1),
    ],
)
def test_any_other_report_is_no_proof(room: ProofRoom, text: str, least: int) -> None:
    room.write("r.xml", text)
    result = room.one(report(least=least))
    assert not result.ok
    assert result.detail


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("text", [LAUGHS, OUTSIDE])
def test_a_report_with_a_document_type_is_refused_in_every_encoding(text: str, encoding: str) -> None:
    with pytest.raises(ValueError, match=r"document type|no XML"):
        read_junit(text.encode(encoding))


def test_a_document_type_hidden_in_another_encoding_is_refused() -> None:
    hidden = b'<?xml version="1.0" encoding="cp037"?>' + OUTSIDE.encode("cp037")
    with pytest.raises(ValueError, match=r"it "):
        read_junit(hidden)


def test_a_report_from_before_the_step_does_not_count(room: ProofRoom) -> None:
    now = time.time()
    made = room.write("r.xml", GOOD)
    os.utime(made, (now - 10, now - 10))
    stale = room.one(report(), began_at=now)
    assert not stale.ok
    assert stale.detail == "it is older than the step: the step did not write it"
    os.utime(made, (now + 1, now + 1))
    assert room.one(report(), began_at=now).ok


def test_a_report_that_a_check_before_it_writes_counts(room: ProofRoom) -> None:
    results = room.establish(passes(f"echo '{GOOD}' > r.xml"), report(), began_at=time.time())
    assert all(each.ok for each in results)


def test_a_report_is_only_read_from_a_file_of_the_workspace(room: ProofRoom, tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(GOOD, "utf-8")
    (room.work / "link.xml").symlink_to(tmp_path / "r.xml")
    (room.work / "folder").mkdir()
    os.mkfifo(room.work / "pipe")
    with (room.work / "huge.xml").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    paths = ("link.xml", "folder", "pipe", "huge.xml", "../r.xml", "gone.xml", None)
    results = room.establish(*map(report, paths))
    assert not any(each.ok for each in results)
    assert [each.detail for each in results] == snapshot(
        [
            "a link in it leads outside the workspace",
            "it cannot be read: Is a directory",
            "it is not a file",
            "it is larger than 16 MiB",
            "the path leaves its folder",
            "it does not exist",
            "expected a path, got null",
        ]
    )
