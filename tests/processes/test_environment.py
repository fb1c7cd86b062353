"""What commands see of our environment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.processes.environment import filter_environment

PARENT = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LANG": "C.UTF-8",
    "LC_ALL": "C",
    "XDG_CACHE_HOME": "/c",
    "XDG_SESSION_TOKEN": "t",
    "SSL_CERT_FILE": "/pem",
    "GITHUB_TOKEN": "g",
    "OPENAI_API_KEY": "o",
    "AWS_SECRET_ACCESS_KEY": "a",
    "AWS_REGION": "eu",
    "DATABASE_URL": "postgres://u:p@h/d",
    "PYTHONPATH": "/x",
    "LD_PRELOAD": "/evil.so",
    "HANDRAIL_MARK": "outer:1@/f",
    "HANDRAIL_HOME": "/h",
}


def test_only_the_allow_list_passes() -> None:
    assert filter_environment(PARENT) == snapshot(
        {
            "HOME": "/home/me",
            "LANG": "C.UTF-8",
            "LC_ALL": "C",
            "PATH": "/bin",
            "SSL_CERT_FILE": "/pem",
            "XDG_CACHE_HOME": "/c",
        }
    )


@pytest.mark.parametrize(
    ("named", "added"),
    [
        (["DATABASE_URL"], {"DATABASE_URL"}),
        (["GITHUB_TOKEN"], {"GITHUB_TOKEN"}),
        (["AWS_*"], {"AWS_SECRET_ACCESS_KEY", "AWS_REGION"}),
        (["*_TOKEN"], {"GITHUB_TOKEN", "XDG_SESSION_TOKEN"}),
        (["*"], {"AWS_REGION", "DATABASE_URL", "PYTHONPATH", "LD_PRELOAD", "HANDRAIL_HOME"}),
        (["**", " ", ""], set[str]()),
        (["github_token", "HANDRAIL_MARK", "NOT_SET"], set[str]()),
    ],
)
def test_what_is_named_passes_too(named: list[str], added: set[str]) -> None:
    assert set(filter_environment(PARENT, named)) - set(filter_environment(PARENT)) == added


def test_names_may_come_from_the_environment_itself() -> None:
    parent = PARENT | {"HANDRAIL_PASS_ENV": " DATABASE_URL ,, OPENAI_* "}
    added = set(filter_environment(parent)) - set(filter_environment(PARENT))
    assert added == {"DATABASE_URL", "OPENAI_API_KEY"}


def test_programs_are_found_even_without_a_path() -> None:
    assert filter_environment({}) == {"PATH": "/usr/local/bin:/usr/bin:/bin"}


@given(st.dictionaries(st.sampled_from(sorted(PARENT)), st.text(max_size=5)), st.lists(st.text("A*_?[", max_size=4)))
def test_values_are_never_changed_and_nothing_is_made_up(parent: dict[str, str], named: list[str]) -> None:
    chosen = filter_environment(parent, named)
    assert all(parent.get(name) == value for name, value in chosen.items() if name != "PATH")
    assert "HANDRAIL_MARK" not in chosen
