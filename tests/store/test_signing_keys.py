"""The file of the keys of tokens: never replaced by itself, and whatever is wrong with it is named with what to do."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.errors import StorageDamaged, StorageRefused, StorageTooNew
from handrail.store.signing_keys import FILE, keys_in, rotate

KEY = "ab" * 32
BROKEN = (
    "",
    "{",
    "[]",
    "7",
    "null",
    "{}",
    '{"current": null}',
    '{"current": "zz"}',
    '{"current": "abcd"}',
    f'{{"previous": "{KEY}"}}',
    f'{{"current": ["{KEY}"]}}',
    f'{{"current": "{KEY}", "previous": "ab"}}',
    "[" * 100_000,
    "\udcff",
)
AS_NOBODY = """
import os, sys
from pathlib import Path
from handrail.errors import StorageRefused
from handrail.store.signing_keys import keys_in
os.setuid(65534)
try:
    keys_in(Path(sys.argv[1]))
except StorageRefused as error:
    print(error.message, error.next_step, sep="\\n")
"""


@pytest.mark.parametrize("content", BROKEN, ids=lambda each: each[:20].encode("ascii", "replace").decode())
def test_a_file_that_holds_no_key_is_named_and_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / FILE
    path.write_text(content, errors="surrogateescape")
    before = path.read_bytes()
    for use in (keys_in, rotate):
        with pytest.raises(StorageDamaged, match=r"the keys of tokens in .* cannot be read") as refused:
            use(tmp_path)
        assert str(refused.value.next_step).startswith(
            f"restore {path} from a backup, or remove it: a new key is created"
        )
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_a_newer_handrail_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"version": 2, "keys": []}')
    with pytest.raises(StorageTooNew, match="were written by a newer version of Handrail") as refused:
        rotate(tmp_path)
    assert refused.value.next_step == "install the newest Handrail: pip install --upgrade handrail"
    assert (tmp_path / FILE).read_text() == '{"version": 2, "keys": []}'


def test_a_file_from_before_there_were_versions_holds(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(f'{{"current": "{KEY}", "previous": null}}')
    assert keys_in(tmp_path) == (bytes.fromhex(KEY),)
    assert rotate(tmp_path)[1] == bytes.fromhex(KEY)


def test_a_link_that_leads_nowhere_and_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).symlink_to(tmp_path / "nowhere")
    with pytest.raises(StorageRefused, match="cannot be read: No such file or directory"):
        keys_in(tmp_path)
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    with pytest.raises(StorageRefused, match="cannot be read: Is a directory"):
        keys_in(tmp_path)


@pytest.mark.system("root")
def test_a_file_of_another_user_is_refused_with_what_to_do() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        keys = keys_in(folder)
        folder.chmod(0o755)
        ran = subprocess.run([sys.executable, "-c", AS_NOBODY, name], capture_output=True, text=True, check=True)
        assert keys_in(folder) == keys
    assert ran.stdout.replace(name, "DATA") == snapshot("""\
the keys of tokens in DATA/token-keys.json cannot be read: Permission denied
make DATA/token-keys.json a file that your user owns and can read, or set HANDRAIL_HOME to a folder that you own
""")
