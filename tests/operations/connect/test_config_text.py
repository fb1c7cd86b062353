"""One insertion into somebody's configuration: everything else stays, byte for byte, and is there again afterwards."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.operations.connect.config_text import (
    NAME,
    UneditableText,
    find_entry,
    insertion,
    read_config,
    remove_entry,
    write_entry,
)

ENTRY: dict[str, Any] = {"command": "/opt/handrail", "args": ["mcp"]}
JSONC = """\
// my settings
{
    "theme": "dark", // at night
    "mcpServers": {
        /* one */ "other": {"command": "x", "args": ["// no comment", "a,]"]}, // last
    },
}
"""
TOML = '# mine\nmodel = "x"  # the best\n\n[mcp_servers.other]\ncommand = "y"'
names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
values = st.recursive(st.none() | st.booleans() | st.integers() | names, lambda one: st.lists(one, max_size=3))
tables = st.dictionaries(names, values, max_size=4)
NO_JSON = ("[]", "7", '{"mcpServers": []}', '{"mcpServers": {', '{"a": 1 "b": 2}', "// only")
ANEW = """\
[mcp_servers.a]
x = 1

[mcp_servers.handrail]
command = "/opt"
[mcp_servers.handrail.env]
B = "[c]"

[z]
y = 2
"""


def inserted(form: Any, text: str, table: str = "mcpServers") -> str:
    at, words = insertion(form, text, table, ENTRY)
    return text[:at] + words + text[at:]


def test_comments_commas_and_order_stay_where_they_are() -> None:
    assert inserted("json", JSONC) == snapshot("""\
// my settings
{
    "theme": "dark", // at night
    "mcpServers": {
        "handrail": {
            "command": "/opt/handrail",
            "args": [
                "mcp"
            ]
        },
        /* one */ "other": {"command": "x", "args": ["// no comment", "a,]"]}, // last
    },
}
""")


def test_a_table_goes_to_the_end_of_a_file_whose_last_line_has_no_end() -> None:
    assert inserted("toml", TOML, "mcp_servers") == snapshot("""\
# mine
model = "x"  # the best

[mcp_servers.other]
command = "y"

[mcp_servers.handrail]
command = "/opt/handrail"
args = ["mcp"]
""")


@pytest.mark.parametrize(
    "text",
    [
        *("", "\n", "{}", "{ }\n", "{\n}\n", '{"mcpServers":{}}', '{"mcpServers": { /* none */ }}', '{"a":1}'),
        *('{\r\n  "a": 1\r\n}\r\n', '{"mcpServers":{"b":{}}}', JSONC, '{// x\n"a": "{\\"", }'),
    ],
)
def test_what_was_inserted_is_all_that_was_added(text: str) -> None:
    at, words = insertion("json", text, "mcpServers", ENTRY)
    made = text[:at] + words + text[at:]
    assert find_entry("json", made, "mcpServers") == ENTRY
    assert made.replace(words, "") == text
    assert ("\r\n" in made) == ("\r\n" in text)
    assert "\n" not in made.replace("\r\n", "") or "\r\n" not in made


@given(tables, tables, st.sampled_from([0, 2, 4, None]))
def test_any_configuration_says_the_same_and_the_entry(around: Any, servers: Any, indent: int | None) -> None:
    around["mcpServers"] = {key: value for key, value in servers.items() if key != NAME}
    text = json.dumps(around, indent=indent)
    made = inserted("json", text)
    assert read_config("json", made) == {**around, "mcpServers": {**around["mcpServers"], NAME: ENTRY}}
    anew = json.dumps(json.loads(made))
    assert read_config("json", remove_entry("json", anew, "mcpServers", with_table=False)) == around


@given(st.text(max_size=80))
def test_no_text_breaks_the_reader(text: str) -> None:
    for form in ("json", "toml"):
        try:
            insertion(form, text, "mcpServers", ENTRY)
        except UneditableText:
            continue


@pytest.mark.parametrize(
    ("form", "text"),
    [
        *[("json", each) for each in NO_JSON],
        *[("toml", each) for each in ("a = ", 'mcp_servers = {x = {command = "y"}}', "mcp_servers = 3")],
    ],
)
def test_what_cannot_be_edited_is_refused(form: Any, text: str) -> None:
    with pytest.raises(UneditableText):
        insertion(form, text, "mcpServers" if form == "json" else "mcp_servers", ENTRY)


def test_a_file_that_was_written_anew_keeps_the_rest() -> None:
    left = remove_entry("toml", ANEW, "mcp_servers", with_table=False)
    assert read_config("toml", left) == {"mcp_servers": {"a": {"x": 1}}, "z": {"y": 2}}
    text = '{"a": 1, "mcpServers": {"handrail": {}}, "b": 2}'
    assert remove_entry("json", text, "mcpServers", with_table=True) == '{"a": 1, "b": 2}'
    assert remove_entry("json", text, "mcpServers", with_table=False) == '{"a": 1, "mcpServers": {}, "b": 2}'


def test_the_lines_for_a_person_are_a_whole_configuration() -> None:
    entry = {**ENTRY, "env": {"HANDRAIL_HOME": '/a "b"'}, "required": True, "startup_timeout_sec": 30}
    assert find_entry("toml", write_entry("toml", "mcp_servers", entry), "mcp_servers") == entry
    assert find_entry("json", write_entry("json", "servers", entry), "servers") == entry
