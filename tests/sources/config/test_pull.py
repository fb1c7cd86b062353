"""`[pull]` of a configuration: how far runs of connected agents go on alone."""

from pathlib import Path

from inline_snapshot import snapshot

from handrail.model.diagnostics import Report
from handrail.model.workflow.settings import NO_PULL, PullSetting
from handrail.sources.config.config import read_repository_config


def read(root: Path, text: str) -> tuple[PullSetting, list[str]]:
    path = root / ".handrail" / "config.toml"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    report = Report()
    found = read_repository_config(root, report).pull
    return found, [f"{each.message}; {each.hint}" for each in report.diagnostics]


def test_both_preferences_are_read(tmp_path: Path) -> None:
    text = '[pull]\nautonomy = "full_auto_never_stop"\nrisk = "balanced"\n'
    assert read(tmp_path, text) == (PullSetting("full_auto_never_stop", "balanced"), [])


def test_what_is_no_preference_is_told_and_says_nothing(tmp_path: Path) -> None:
    found, told = read(tmp_path, '[pull]\nautonomy = "gided"\nrisk = 3\nmode = "fast"\n')
    assert found == NO_PULL
    assert told == snapshot(
        [
            "unknown key 'mode' in [pull]; known keys: autonomy, risk",
            (
                "'autonomy' must be one of guided, full_auto_stop_on_user_deps, full_auto_never_stop,"
                " did you mean 'guided'?;"
                ' write autonomy = "guided"'
            ),
            "'risk' must be one of conservative, balanced, aggressive; write risk = \"conservative\"",
        ]
    )
