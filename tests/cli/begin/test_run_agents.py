"""Which agent `handrail run` takes, from the command line, the issue, the configuration and the machine."""

import pytest

from support.cli.fresh import Fresh

ASKS = "name: NAME\ninput: {issue: issue}\nsteps:\n  - {name: work, prompt: 'Do the work now, please.'}\n"


@pytest.mark.parametrize(
    ("args", "agent"),
    [
        (("Mend it. [agent=codex]",), "codex"),
        (("--input", 'issue={"title": "Mend it", "labels": ["bug", "Gemini"]}'), "gemini"),
        (("Mend it.",), "opencode"),
        (("Mend it. [agent=codex]", "--agent", "claude/opus"), "claude"),
        (("Mend it.", "--model", "opus"), "claude"),
    ],
)
def test_the_agent_that_is_named_nearest_is_looked_for(fresh: Fresh, args: tuple[str, ...], agent: str) -> None:
    fresh.commit(**{".handrail/config.toml": '[agent]\ndefault = "opencode"\n'})
    fresh.shop.workflow("ask", ASKS)
    for what in (".handrail/config.toml", "ask"):
        assert fresh.shop.call("trust", what, "--yes").exit_code == 0
    result = fresh.shop.call("run", "ask", *args)
    assert result.exit_code == 2, result.output
    assert f"the agent '{agent}' is not installed" in result.output


def test_two_models_that_contradict_each_other_are_refused(fresh: Fresh) -> None:
    fresh.commit()
    fresh.shop.workflow("ask", ASKS)
    assert fresh.shop.call("trust", "ask", "--yes").exit_code == 0
    result = fresh.shop.call("run", "ask", "Mend it.", "--agent", "claude/opus", "--model", "sonnet")
    assert result.exit_code == 2, result.output
    assert "--agent claude/opus names the model 'opus', but --model names 'sonnet'" in result.output


def test_where_no_agent_is_installed_the_ways_to_get_one_are_named(fresh: Fresh) -> None:
    fresh.commit()
    fresh.shop.workflow("ask", ASKS)
    assert fresh.shop.call("trust", "ask", "--yes").exit_code == 0
    result = fresh.shop.call("run", "ask", "Mend it.")
    assert result.exit_code == 2
    assert "no agent is installed" in result.output
    fresh.program("claude")
    fresh.program("codex")
    result = fresh.shop.call("run", "ask", "Mend it.")
    assert "no agent was chosen, and several are installed: claude, codex" in result.output
