"""`unchanged` as a map: which files count is said beside their globs, and is known before the step begins."""

import pytest

from handrail.model.workflow.proofs import FilesProof
from support.compiler.native_case import compile_text, shown


def _compiled(check: str) -> tuple[FilesProof | None, str]:
    steps = f"  - {{name: work, prompt: Do the work., output: made, returns: {{test: path}}, done_when: [{check}]}}\n"
    compiled, _, _ = compile_text(f"name: case\ninput: {{where: string}}\nsteps:\n{steps}")
    proof = None if compiled.plan is None else compiled.plan.steps[0].done_when[0]
    assert proof is None or isinstance(proof, FilesProof)
    return proof, shown(compiled.diagnostics)


@pytest.mark.parametrize(
    ("check", "ignored"),
    [
        ("{unchanged: tests/**}", False),
        ("{unchanged: {paths: tests/**}}", False),
        ("{unchanged: {paths: [tests/**, docs/**], ignored: false}}", False),
        ("{unchanged: {paths: tests/**, ignored: true}}", True),
        ("{unchanged: {paths: '${where}/**', ignored: true}}", True),
        ("{unchanged: '${made.test}'}", False),
        ("{unchanged: {paths: '${made.test}'}}", False),
    ],
)
def test_ignored_files_count_where_it_is_said(check: str, ignored: bool) -> None:
    proof, found = _compiled(check)
    assert proof is not None, found
    assert proof.ignored is ignored


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("{unchanged: {paths: '${made.test}', ignored: true}}", "'made' is known when the step ends"),
        ("{unchanged: {paths: [a, 'x/${made.test}'], ignored: true}}", "'made' is known when the step ends"),
        ("{unchanged: {ignored: true}}", "paths"),
        ("{unchanged: {paths: a, ignored: maybe}}", "expected true or false"),
        ("{unchanged: {paths: []}}", "at least 1 item"),
        ("{changed: {paths: a, ignored: true}}", "got a map"),
    ],
)
def test_what_cannot_be_meant_is_refused(check: str, said: str) -> None:
    proof, found = _compiled(check)
    assert proof is None
    assert said in found
