"""Secrets are taken out of texts: every kind, in linear time, and JSON stays JSON."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.model.secrets.credential_forms import LARGE
from handrail.model.secrets.redaction import Redactor
from handrail.processes.secret_forms import FORMS
from support.compiler.secret_samples import SAMPLES, SECRET_PIECES, VALUES

REDACTOR = Redactor(VALUES, FORMS)
PIECES = st.sampled_from(SECRET_PIECES)
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=8).map("".join)


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_kind_is_hidden_in_text_in_json_and_beside_words(kind: str) -> None:
    secret = SAMPLES[kind]
    escaped = json.dumps({"text": f"a\n{secret}\nb"})
    for text in (secret, f"it is {secret}, see", f"x='{secret}'", escaped, f"\x1b[32m{secret}"):
        masked = REDACTOR.text(text)
        assert SECRET_PART[kind] not in masked, masked
        assert len(masked) == len(text)


SECRET_PART = {
    kind: max(secret.replace("@", " ").replace(":", " ").split(), key=len) for kind, secret in SAMPLES.items()
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_kind_is_hidden_in_a_lot_of_data_too(kind: str) -> None:
    around = b"x" * LARGE + b"\n"
    data = around + json.dumps({"text": f"a {SAMPLES[kind]} b"}).encode() + b"\n" + around
    assert SECRET_PART[kind].encode() not in REDACTOR.data(data)
    assert REDACTOR.find(data)[0].kind == REDACTOR.find(data[len(around) : -len(around)])[0].kind


@given(TEXTS)
def test_a_gate_finds_something_in_all_that_the_forms_behind_it_find(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for form in FORMS:
        if form.gate and re.search(form.pattern, data):
            assert re.search(form.gate, data), (form, data)


def test_every_form_has_a_sample() -> None:
    found = {each.kind for secret in SAMPLES.values() for each in REDACTOR.find(secret.encode())}
    assert {form.kind for form in FORMS} <= found


def test_a_mask_says_what_it_hides_where_there_is_room() -> None:
    assert REDACTOR.text(f"key {SAMPLES['github']}") == f"key [secret:github-token{'*' * 19}]"
    assert (
        Redactor({"MY_TOKEN": "hunter2-hunter2-hunter2"}, FORMS).text("hunter2-hunter2-hunter2")
        == "[secret:MY_TOKEN******]"
    )
    assert Redactor({"A": "hunter22"}, FORMS).text("is hunter22!") == "is ********!"


@pytest.mark.parametrize(
    "text",
    [
        "the task-implement-the-whole-thing-now-please is sk-etchy",
        "https://example.org:8080/path@2 and ssh://git@example.org/x.git",
        "postgres://app:${DB_PASSWORD}@db/x and https://x:$TOKEN@host and https://u:{{ password }}@h",
        "the bearer authentication scheme, Authorization: required",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQ\n-----END PUBLIC KEY-----",
        "secret_access_key is a name",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert REDACTOR.text(text) == text


def test_known_values_are_hidden_however_json_writes_them() -> None:
    for value in VALUES.values():
        for line in (json.dumps({"a": value}), json.dumps({"a": value}, ensure_ascii=False)):
            for spelled in (line, line.replace("/", "\\/")):
                found = json.loads(REDACTOR.text(spelled))["a"]
                assert not any(part in found for part in value.strip().splitlines())


def test_lines_of_a_value_with_several_lines_are_hidden_each() -> None:
    assert "second line" not in REDACTOR.text("> second line of it")


def test_escaped_hyphens_hide_nothing_from_us() -> None:
    line = '{"key": "sk\\u002dant\\u002dapi03\\u002d' + "a1" * 20 + '"}'
    assert "a1a1" not in json.dumps(json.loads(REDACTOR.text(line)))


def test_short_values_are_no_secrets() -> None:
    assert Redactor({"A_TOKEN": "true"}, FORMS).text("that is true") == "that is true"


@given(TEXTS)
def test_masking_twice_is_masking_once_and_keeps_the_length(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once
    assert len(once.encode("utf-8", "surrogatepass")) == len(text.encode("utf-8", "surrogatepass"))
    assert once.count("\n") == text.count("\n")


@given(st.lists(TEXTS, max_size=5), TEXTS)
def test_lines_of_json_stay_lines_of_json_of_the_same_shape(texts: list[str], name: str) -> None:
    line = json.dumps({"texts": texts, "name": name, "n": 1})
    read: dict[str, Any] = json.loads(REDACTOR.text(line))
    assert [len(read["texts"]), read["n"], set(read)] == [len(texts), 1, {"texts", "name", "n"}]


@pytest.mark.parametrize(
    "piece",
    [
        b"sk-",
        b"eyJ",
        b"eyJaaaaaaaaaa.",
        b"-----BEGIN PRIVATE KEY-----",
        b"://a:",
        b"ghp_",
        b"bearer ",
        b"\\",
        b"@:",
        b"A",
    ],
)
def test_two_megabytes_of_hostile_input_take_no_more_than_their_share(piece: bytes) -> None:
    # Were the time not linear, this would take hours, not a second: no clock is needed to see it.
    data = piece * ((2 << 20) // len(piece))
    assert len(REDACTOR.data(data)) == len(data)
