"""What is pure knows no vendor: what is known of an agent stands in its folder, and is handed in."""

import re
from pathlib import Path

import pytest

import handrail
from handrail.agents.profiles import load_profiles

ROOT = Path(handrail.__file__).parent
PURE = ("engine", "model")
VENDORS = frozenset(
    {
        *("anthropic", "openai", "google", "copilot", "cursor-agent", "mistral", "deepseek", "openrouter"),
        *("sonnet", "haiku", "gpt-"),
    }
)


def vendor_names() -> frozenset[str]:
    profiles = load_profiles()
    told = (name for each in profiles for name in (each.name, each.program, *each.other_names, *each.labels))
    return VENDORS | frozenset(told)


def mentions(text: str) -> list[str]:
    words = "|".join(map(re.escape, sorted(vendor_names())))
    return re.findall(words, text, re.IGNORECASE)


@pytest.mark.parametrize("layer", PURE)
def test_no_vendor_is_named_in_a_pure_layer(layer: str) -> None:
    files = sorted((ROOT / layer).rglob("*.py"))
    assert files
    found = {str(path.relative_to(ROOT)): named for path in files if (named := mentions(path.read_text("utf-8")))}
    assert found == {}, "facts about a vendor belong in the folder of its agent, or are handed in"


def test_a_vendor_is_found_in_names_texts_and_comments() -> None:
    assert mentions('AGENTS = {"claude"}\n') == ["claude"]
    assert mentions("def is_openai(name): ...  # as Codex does") == ["openai", "Codex"]
    assert mentions("the agent of a step") == []
