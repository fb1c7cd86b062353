"""The runtime reads no environment: what depends on it comes with the run (`RunEnvironments`), or from the wiring."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import handrail

RUNTIME = Path(handrail.__file__).parent / "runtime"
READS = frozenset({"environ", "environb", "getenv", "getenvb", "expanduser", "expandvars", "which", "getuser"})
"""Names of the standard library that give variables of this process, or what depends on them."""
MODULES = frozenset({"getpass", "platformdirs", "tempfile"})


def reads(source: str) -> Iterator[tuple[int, str]]:
    """Find the places at which a source looks at the environment of its process."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in READS:
                yield node.lineno, name
            case ast.Attribute(value=ast.Name(id="Path"), attr="home"):
                yield node.lineno, "Path.home"
            case ast.Import(names=names):
                yield from ((node.lineno, each.name) for each in names if each.name in MODULES)
            case ast.ImportFrom(module=module, names=names):
                yield from ((node.lineno, each.name) for each in names if module in MODULES or each.name in READS)
            case _:
                pass


def test_the_runtime_reads_no_environment_variable() -> None:
    files = sorted(RUNTIME.rglob("*.py"))
    found = [f"{path.relative_to(RUNTIME)}:{line}: {name}" for path in files for line, name in reads(path.read_text())]
    assert len(files) > 20
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "import os\nprint(os.environ['HOME'])",
        "import os as machine\nmachine.getenv('HOME')",
        "from os import environ as given",
        "from pathlib import Path\nPath.home()",
        "from pathlib import Path\nPath('~').expanduser()",
        "import shutil\nshutil.which('git')",
        "import tempfile",
        "from tempfile import mkdtemp",
    ],
)
def test_every_way_to_read_it_is_seen(source: str) -> None:
    assert list(reads(source))
