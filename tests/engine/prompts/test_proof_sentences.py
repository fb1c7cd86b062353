"""Each kind of proof in the words that agents are told it in."""

import pytest
from inline_snapshot import snapshot

from handrail.engine.prompts.compose import PromptContent, compose_prompt, proof_words
from handrail.model.workflow.proofs import ExistsProof, FilesProof, Proof, ReportProof
from handrail.model.workflow.values import (
    Constant,
    Expression,
    ListOfValues,
    MapOfValues,
    NamedValue,
    TextWithHoles,
    Value,
)
from support.compiler.native_case import compile_text, shown


def proofs_of(done_when: str) -> tuple[Proof, ...]:
    """Compile `done_when` of a step with an output `repro`."""
    head = "name: w\nsteps:\n  - name: s\n    prompt: Do it.\n    output: repro\n"
    text = f"{head}    returns: {{test: path, files: [glob]}}\n    done_when:\n{done_when}"
    compiled, _, _ = compile_text(text)
    assert compiled.plan is not None, shown(compiled.diagnostics)
    return compiled.plan.steps[0].done_when


def test_each_kind_of_proof_has_its_words() -> None:
    text = """\
      - passes: pytest -q ${repro.test}
      - fails: pytest -q "${repro.test}"
        exit: 1
      - fails: grep -r '${repro.test}' src
      - passes: wc -c ${repro.files | json | file}
      - changed: ${repro.files}
      - unchanged: [src/**, "docs/${repro.test}", "*.md"]
      - exists: reports/out.xml
      - expect: repro.files | length >= 1
      - report: {junit: reports/out.xml, min_tests: 3}
      - passes: |
          cd web
          npm test -- "${repro.test}" "$HR_9"
"""
    assert "\n".join(proof_words(proofs_of(text))) == snapshot("""\
`pytest -q "${repro.test}"` exits with code 0
`pytest -q "${repro.test}"` fails with exit code 1
`grep -r ''"${repro.test}"'' src` fails, with any exit code but 0
`wc -c "${repro.files | json | file}"` exits with code 0
at least one file that matches `${repro.files}` has changed
no file that matches `src/**`, `docs/${repro.test}` or `*.md` has changed
`reports/out.xml` exists
`repro.files | length >= 1` is true
the JUnit report `reports/out.xml` shows that at least 3 tests ran and none failed
this script exits with code 0:
```sh
cd web
npm test -- "${repro.test}" "$HR_9"
```\
""")


def test_a_script_stands_as_a_block_under_its_number() -> None:
    words = proof_words(proofs_of("      - passes: |\n          cd web\n          npm test\n"))
    assert compose_prompt(PromptContent(prompt="x", proofs=words)).partition("# Checks")[2] == snapshot("""\


When you stop, Handrail checks the following. The step is done only when all of it holds:

1. this script exits with code 0:
   ```sh
   cd web
   npm test
   ```\
""")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Constant(["a", "b"]), "`a` or `b`"),
        (Constant([]), "`[]`"),
        (ListOfValues((Constant("a"), Constant("b"), Expression("c"))), "`a`, `b` or `${c}`"),
        (TextWithHoles(("src/", Expression("x.y"))), "`src/${x.y}`"),
        (ListOfValues((ListOfValues((Constant("a"), Constant("b"))),)), "`a, b`"),
        (MapOfValues((NamedValue("a", Constant(1)),)), "`a: 1`"),
        (Constant("a`b`"), "`` a`b` ``"),
    ],
)
def test_values_stand_in_proofs_as_their_author_wrote_them(value: Value, words: str) -> None:
    assert proof_words((FilesProof(value, "unchanged"),)) == (f"no file that matches {words} has changed",)


def test_ignored_files_are_spoken_of_where_they_count() -> None:
    proof = FilesProof(Constant("a"), "unchanged", ignored=True)
    assert proof_words((proof,)) == ("no file that matches `a` has changed, files that git ignores included",)


def test_one_test_is_singular() -> None:
    assert "at least 1 test ran" in proof_words((ReportProof(Constant("r.xml")),))[0]
    assert proof_words((ExistsProof(Expression("repro.test")),)) == ("`${repro.test}` exists",)
