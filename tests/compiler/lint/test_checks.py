from inline_snapshot import snapshot

from support.compiler.native_case import lint_steps


def test_a_check_that_always_fails_is_found() -> None:
    found = lint_steps("""
        - {name: one, type: gate, command: "false"}
        - name: two
          type: gate
          checks: {test: make test, block: exit 3}
        - name: three
          type: agent-loop
          prompt: Review the changes of this branch.
          checks: {never: "false ;"}
    """)
    assert found == snapshot("""\
workflow.yaml:4:38 gate-cannot-pass the gate can never pass: `false` always fails
workflow.yaml:7:38 gate-cannot-pass the check 'block' can never pass: `exit 3` always fails
workflow.yaml:11:21 gate-cannot-pass the check 'never' can never pass: `false ;` always fails\
""")


def test_checks_that_may_pass_are_left_alone() -> None:
    found = lint_steps("""
        - {name: one, type: gate, command: make test || exit 1}
        - {name: two, type: gate, checks: {zero: exit 0, not: grep -q false log}}
        - {name: three, type: script, command: exit 1}
    """)
    assert found == ""


def test_proofs_that_exclude_each_other_are_found() -> None:
    found = lint_steps("""
        - name: work
          prompt: Do the work.
          output: made
          returns: {test: path}
          done_when:
            - passes: pytest "${made.test}"
            - fails: pytest "${made.test}"
            - changed: [src/**, docs/**]
            - unchanged: [docs/**, src/**, tests/**]
            - expect: 1 == 2
            - fails: "true"
            - passes: exit 1
        - name: use
          type: script
          command: cat "${made.test}"
    """)
    assert found == snapshot("""\
workflow.yaml:10:16 gate-cannot-pass `done_when` can never be met: the same command must both pass and fail
workflow.yaml:12:20 gate-cannot-pass `done_when` can never be met: `docs/**, src/**` must be changed and unchanged
workflow.yaml:13:17 gate-cannot-pass `done_when` can never be met: `expect` is always false
workflow.yaml:14:16 gate-cannot-pass `done_when` can never be met: `true` always passes
workflow.yaml:15:17 gate-cannot-pass `done_when` can never be met: `exit 1` always fails\
""")


def test_files_that_must_change_and_must_not_are_found_in_a_map_too() -> None:
    found = lint_steps("""
        - name: work
          prompt: Do the work.
          done_when:
            - changed: src/**
            - unchanged: {paths: [src/**, tests/**], ignored: true}
    """)
    assert "`src/**` must be changed and unchanged" in found


def test_proofs_about_different_things_are_left_alone() -> None:
    found = lint_steps("""
        - name: work
          prompt: Do the work.
          done_when:
            - passes: pytest tests/new
            - fails: pytest tests/old
            - changed: [src/**, docs/**]
            - unchanged: docs/**
    """)
    assert found == ""


def test_checks_joined_with_and_hide_failures() -> None:
    found = lint_steps("""
        - name: checks
          type: gate
          command: cd web && npm run lint && npm test
    """)
    assert found == snapshot("workflow.yaml:6:37 hidden-by-and `&&` hides what fails after the first failing check")


def test_preparing_a_check_is_not_joining_checks() -> None:
    found = lint_steps("""
        - {name: inside, type: gate, command: cd web && npm test}
        - {name: prepared, type: gate, command: export CI=1 && . ./env && mkdir -p out && npm test}
        - {name: quoted, type: gate, command: grep 'a && b' notes.txt}
        - {name: grouped, type: gate, command: "! (make one && make two)"}
        - {name: script, type: script, command: npm run lint && npm test}
    """)
    assert found == ""
