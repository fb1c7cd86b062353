"""Secrets are taken out of a file while it grows, however its writer cuts what it writes."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.model.secrets.redaction import MAX_HELD_BYTES, Redactor
from handrail.processes.mask_output import MaskedFile
from handrail.processes.secret_forms import FORMS
from support.compiler.secret_samples import SAMPLES, SECRET_PIECES, VALUES

REDACTOR = Redactor(VALUES, FORMS)
PIECES = st.sampled_from(SECRET_PIECES)
TOGETHER = st.lists(PIECES | st.text(max_size=8), max_size=8).map("".join)
APART = st.lists(PIECES | st.text(max_size=8), max_size=8).map(" , ".join)
CUTS = st.lists(st.integers(0, 10_000), max_size=6)


def masked(data: bytes, cuts: list[int], *, before_last: bool = False) -> bytes:
    """What stands in a file after it was written in pieces and looked at after each."""
    with tempfile.TemporaryDirectory() as folder:
        path, at = Path(folder) / "stdout", 0
        path.touch()
        file = MaskedFile(path, REDACTOR)
        for cut in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
            with path.open("ab") as output:
                output.write(data[at:cut])
            file.look()
            at = cut
        so_far = path.read_bytes()
        file.look(last=True)
        return so_far if before_last else path.read_bytes()


@given(APART, CUTS)
def test_the_same_is_masked_however_it_was_cut(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8", "surrogatepass")
    whole = masked(data, [])
    assert masked(data, cuts) == whole
    assert len(whole) == len(data)


@given(TOGETHER, CUTS)
def test_nothing_is_left_of_secrets_that_touch_however_they_were_cut(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8", "surrogatepass")
    found = masked(data, cuts)
    # Which of them names the mask may differ; that all of them are hidden does not.
    assert REDACTOR.data(found) == found
    assert (len(found), found.count(b"\n")) == (len(data), data.count(b"\n"))


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_secret_that_is_cut_anywhere_is_hidden(kind: str) -> None:
    secret = max(SAMPLES[kind].replace("@", " ").replace(":", " ").split(), key=len)
    data = f"before {SAMPLES[kind]} after\nnext\n".encode()
    for cut in range(len(data)):
        assert secret.encode() not in masked(data, [cut])


@pytest.mark.parametrize("at", [0, MAX_HELD_BYTES // 2 - 20, MAX_HELD_BYTES - 10, MAX_HELD_BYTES + 5])
def test_a_secret_in_a_line_without_end_is_hidden_while_the_line_goes_on(at: int) -> None:
    secret = SAMPLES["github"].encode()
    data = b"." * at + b" " + secret + b" " + b"." * (3 * MAX_HELD_BYTES)
    assert secret not in masked(data, list(range(0, len(data), 1000)), before_last=True)
