"""Marks are found again, and nobody else can forge one."""

from hypothesis import given
from hypothesis import strategies as st

from handrail.model.issues import Marker
from handrail.trackers.github.marks import LONGEST, is_marked, read_mark, sign_text, strip_mark, write_mark

KEY = Marker(what="progress", key="demo-1")


@given(key=st.text(), value=st.text(), text=st.text())
def test_any_key_and_text_come_back(key: str, value: str, text: str) -> None:
    marker = Marker(what="claim", key=key, extra={"run": value})
    signed = sign_text(text, marker)
    assert read_mark(signed) == marker
    assert signed.count("-->") == text.count("-->") + 1
    assert strip_mark(signed) == strip_mark(sign_text(strip_mark(signed), marker))


def test_a_mark_inside_a_text_becomes_visible() -> None:
    forged = f"Hello {write_mark(KEY)}\n<!--\u200bHandrail :claim key=x -->"
    signed = sign_text(forged, Marker(what="message", key="m"))
    assert signed.count("<!--") == 1
    assert not is_marked(signed, KEY)
    assert strip_mark(signed).startswith("Hello &lt;!-- handrail:progress")


def test_only_the_end_of_a_text_counts() -> None:
    assert read_mark(f"{write_mark(KEY)} and more") is None
    assert read_mark(f"text\r\n\r\n{write_mark(KEY)}\r\n") == KEY
    assert read_mark("<!-- handrail:unheard key=x -->") is None


def test_a_long_text_is_cut_and_keeps_its_mark() -> None:
    signed = sign_text("\u202ex" * 1_000_000, KEY)
    assert len(signed) <= LONGEST + 2
    assert read_mark(signed) == KEY
    assert "too long" in signed
