"""Puts programs named `bd` on a PATH: the double, or something else of that name."""

import os
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from threading import Lock

from handrail.ports.programs import ProgramAnswer, ProgramCall
from support.beads import fake_bd

_ONE_AT_A_TIME = Lock()


def install_bd(folder: Path) -> dict[str, str]:
    """Install the double; return the environment that finds it first."""
    return install_program(folder, f'exec "{sys.executable}" -I -S "{fake_bd.__file__}" "$@"')


def install_program(folder: Path, script: str) -> dict[str, str]:
    """Install a shell script as `bd`."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "bd"
    program.write_text(f"#!{shutil.which('sh')}\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def ask_double(call: ProgramCall) -> ProgramAnswer:
    """Call the double in this process: an `AskProgram` that starts none."""
    with _ONE_AT_A_TIME, redirect_stdout(StringIO()) as output, redirect_stderr(StringIO()) as errors:
        before, sys.stdin = sys.stdin, TextIOWrapper(BytesIO(call.text.encode()))
        try:
            fake_bd.main(list(call.words), Path(call.folder))
            code = 0
        except SystemExit as ended:
            code = int(str(ended.code))
        finally:
            sys.stdin = before
    return ProgramAnswer(exit_code=code, output=output.getvalue(), errors=errors.getvalue())


def add_beads(repository: Path) -> Path:
    """Give a repository the folder of beads."""
    (repository / ".beads").mkdir()
    return repository
