"""A variable in a command is one argument, however its author wrote it."""

import subprocess

import pytest

from handrail.language.shell.one_argument import quote_variable

VALUE = "a  *b's $(x)"


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("run $FILE", 'run "$FILE"'),
        ("run ${FILE}", 'run "${FILE}"'),
        ('run "$FILE"', 'run "$FILE"'),
        ("run '$FILE'", "run '$FILE'"),
        ('run "./$(dirname $FILE)/"', 'run "./$(dirname "$FILE")/"'),
        ('cd "$(dirname "$FILE")" && run', 'cd "$(dirname "$FILE")" && run'),
        ("(cd x; run $FILE)", '(cd x; run "$FILE")'),
        ("echo \"it's $FILE\" $FILE 'x'", 'echo "it\'s $FILE" "$FILE" \'x\''),
        (r"run \$FILE $FILES", r"run \$FILE $FILES"),
        ("run ${FILE%.*}", "run ${FILE%.*}"),
    ],
)
def test_quotes_are_put_where_a_shell_would_split(written: str, wanted: str) -> None:
    assert quote_variable(written, "FILE") == wanted


@pytest.mark.parametrize("written", ["printf '<%s>' $FILE", "printf '<%s>' \"${FILE}\"", "(printf '<%s>' ${FILE})"])
def test_a_shell_gets_the_value_as_one_argument(written: str) -> None:
    script = quote_variable(written, "FILE")
    done = subprocess.run(["sh", "-c", script], env={"FILE": VALUE}, capture_output=True, text=True, check=True)
    assert done.stdout == f"<{VALUE}>"
