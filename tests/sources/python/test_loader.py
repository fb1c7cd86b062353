import sys
from pathlib import Path

import pytest

from handrail.authoring.python.objects import ResolveContext
from handrail.sources.python.loader import PythonFault, load_python

MAIN = Path("/nowhere/fix/workflow.py")


def load(text: str, context: object = None) -> object:
    return load_python(MAIN, text.encode(), context)


def fault(text: str) -> PythonFault:
    with pytest.raises(PythonFault) as caught:
        load(text)
    return caught.value


def test_resolve_is_called_with_the_context() -> None:
    context = ResolveContext("123", ("bug",), "acme/shop")
    text = "def resolve(context):\n    return [context.issue_id, context.labels, context.repository_id]\n"
    assert load(text, context) == ["123", ("bug",), "acme/shop"]


def test_resolve_may_be_asynchronous() -> None:
    text = "import asyncio\nasync def resolve(context):\n    await asyncio.sleep(0)\n    return 'later'\n"
    assert load(text) == "later"


def test_resolve_may_be_asynchronous_inside_a_running_loop() -> None:
    import asyncio

    async def outer() -> object:
        return load("async def resolve(context):\n    return 'inner'\n")

    assert asyncio.run(outer()) == "inner"


def test_dataclasses_work_and_the_module_is_gone_afterwards() -> None:
    before = set(sys.modules)
    text = """
from __future__ import annotations
from dataclasses import dataclass, field
import typing
@dataclass(slots=True)
class Thing:
    names: list[str] = field(default_factory=list)
    other: typing.ClassVar[int] = 3
def resolve(context):
    return [Thing().names, typing.get_type_hints(Thing)["other"] is not None, __name__]
"""
    result = load(text)
    assert isinstance(result, list)
    assert result[:2] == [[], True]
    assert not {name for name in set(sys.modules) - before if name.startswith("handrail_workflow")}


def test_each_load_has_a_fresh_module() -> None:
    text = "seen = []\ndef resolve(context):\n    seen.append(1)\n    return len(seen)\n"
    assert [load(text), load(text)] == [1, 1]


def test_the_module_knows_its_file() -> None:
    assert load("def resolve(context):\n    return __file__\n") == str(MAIN)


def test_no_bytecode_is_written(tmp_path: Path) -> None:
    main = tmp_path / "workflow.py"
    main.write_text("def resolve(context):\n    return 1\n")
    load_python(main, main.read_bytes(), None)
    assert [path.name for path in tmp_path.iterdir()] == ["workflow.py"]


def test_the_given_bytes_run_and_not_the_file(tmp_path: Path) -> None:
    main = tmp_path / "workflow.py"
    main.write_text("raise SystemExit('the file was read again')\n")
    assert load_python(main, b"def resolve(context):\n    return 'given'\n", None) == "given"


def test_what_it_prints_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    load("print('hello')\ndef resolve(context):\n    print('there')\n")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "hello\nthere\n"


def test_an_exception_stands_at_its_line_of_the_workflow() -> None:
    found = fault("import json\n\ndef resolve(context):\n    return json.loads('{')\n")
    assert (found.line, found.column) == (4, 12)
    assert found.message.startswith("JSONDecodeError: ")


def test_an_exception_while_importing_stands_at_its_line() -> None:
    found = fault("x = 1\ny = x / 0\n")
    assert (found.message, found.line) == ("ZeroDivisionError: division by zero", 2)


def test_a_syntax_error_stands_at_its_line_and_column() -> None:
    found = fault("def resolve(context):\n    return (\n")
    assert found.message == "not valid Python: '(' was never closed"
    assert (found.line, found.column) == (2, 12)


def test_a_missing_library_is_named() -> None:
    found = fault("import no_such_library_here\n")
    assert found.message == "ModuleNotFoundError: No module named 'no_such_library_here'"


@pytest.mark.parametrize("text", ["import sys\nsys.exit(0)\n", "def resolve(context):\n    raise SystemExit\n"])
def test_ending_the_process_is_refused(text: str) -> None:
    found = fault(text)
    assert found.message == "the workflow tried to end the command (SystemExit)"
    assert found.line == 2


@pytest.mark.parametrize("text", ["raise GeneratorExit\n", "class Odd(BaseException): ...\nraise Odd\n"])
def test_the_oddest_exceptions_are_caught(text: str) -> None:
    assert fault(text).line == text.count("\n")


def test_an_exception_that_cannot_be_printed_is_named() -> None:
    text = "class Bad(Exception):\n    def __str__(self):\n        raise ValueError\nraise Bad\n"
    assert fault(text).message == "Bad"


def test_an_exceptions_text_is_made_printable() -> None:
    assert fault("raise ValueError('\\x1b[2Kgone')\n").message == "ValueError: \\x1b[2Kgone"


def test_an_interrupt_by_the_user_goes_through() -> None:
    before = set(sys.modules)
    with pytest.raises(KeyboardInterrupt):
        load("raise KeyboardInterrupt\n")
    assert set(sys.modules) == before


def test_a_file_without_resolve_says_what_to_write() -> None:
    found = fault("x = 1\n")
    assert found.message == "the function `resolve` is missing"
    assert found.hint == "write `def resolve(context)` that returns the workflow"


def test_a_dynamic_flow_is_not_supported_yet() -> None:
    assert fault("def run(ctx):\n    ...\n").message == "`run` is not a coroutine"


def test_a_coding_comment_cannot_hide_code() -> None:
    hidden = b"# -*- coding: utf-7 -*-\n# +AAo-raise SystemExit('hidden')\ndef resolve(context):\n    return 'seen'\n"
    assert load_python(MAIN, hidden, None) == "seen"


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(PythonFault, match="it is not UTF-8 text"):
        load_python(MAIN, b"x = '\xff'\n", None)


@pytest.mark.parametrize("text", ["x = 1\0\n", "(" * 5000 + ")" * 5000, "x = " + "-" * 100_000 + "1", "\ufeff1/0\n"])
def test_no_text_crashes_the_loader(text: str) -> None:
    assert fault(text).message
