"""What a command becomes, and what is told of one that cannot be."""

from handrail.language.shell.scan import compile_command
from handrail.model.codes import CODES

KNOWN = {"x", "y", "dep", "steps"}


def script(text: str) -> str:
    compiled = compile_command(text, KNOWN.__contains__)
    assert compiled.problems == ()
    return compiled.script


def problems(text: str) -> list[str]:
    compiled = compile_command(text, KNOWN.__contains__, sorted(KNOWN))
    assert {one.code for one in compiled.problems} <= set(CODES)
    assert all(0 <= one.start <= one.end <= len(text) for one in compiled.problems)
    return [f"{text[one.start : one.end]} {one.code}: {one.message} | {one.hint}" for one in compiled.problems]
