from inline_snapshot import snapshot

from support.compiler.native_case import lint_guided, lint_steps


def test_a_step_after_an_unconditional_end_is_never_reached() -> None:
    found = lint_steps("""
        - {name: stop, type: end}
        - {name: late, type: script, command: make}
        - {name: later, type: script, command: make}
    """)
    assert found == snapshot(
        "workflow.yaml:5:12 unreachable-step step 'late' is never reached: the run always ends at 'stop'"
    )


def test_a_step_after_a_conditional_end_is_reached() -> None:
    found = lint_steps(
        """
        - {name: stop, type: end, when: skip}
        - {name: late, type: script, command: make}
        """,
        "input: {skip: bool}",
    )
    assert found == ""


def test_a_step_whose_condition_is_false_never_runs() -> None:
    assert lint_steps("- {name: off, type: script, command: make, when: 1 > 2}") == snapshot(
        "workflow.yaml:4:52 unreachable-step step 'off' never runs: its `when` is always false"
    )


def test_the_body_of_a_loop_without_rounds_is_never_reached() -> None:
    found = lint_steps("""
        - name: none
          type: loop
          for: 0
          max_iterations: 3
          steps:
            - {name: a, type: script, command: make}
        - name: never
          type: loop
          while: false
          max_iterations: 3
          steps:
            - {name: b, type: script, command: make}
    """)
    assert found == snapshot("""\
workflow.yaml:9:16 unreachable-step step 'a' is never reached: the loop 'none' has 0 rounds
workflow.yaml:15:16 unreachable-step step 'b' is never reached: the loop 'never' has a `while` that is always false\
""")


def test_a_loop_with_rounds_is_reached() -> None:
    found = lint_steps("""
        - name: some
          type: loop
          for: 2
          max_iterations: 3
          steps:
            - {name: a, type: script, command: make}
    """)
    assert found == ""


def test_conditions_that_do_not_depend_on_the_run_are_named_with_what_follows() -> None:
    found = lint_steps("""
        - {name: always, type: script, command: make, when: "'a' in ['a']"}
        - name: again
          type: loop
          until: 2 > 1
          max_iterations: 3
          steps:
            - {name: a, type: script, command: make}
        - {name: soft, type: gate, command: make test, warn_when: "true"}
        - name: look
          type: agent-loop
          prompt: Review the changes of this branch.
          exit_when: 1 == 2
        - name: prove
          prompt: Do the work.
          done_when:
            - exists: a.txt
            - expect: 1 < 2
    """)
    assert found == snapshot("""\
workflow.yaml:4:55 constant-condition `when` is always true, so the step always runs
workflow.yaml:7:12 constant-condition `until` is always true, so the loop ends after one round
workflow.yaml:11:61 constant-condition `warn_when` is always true, so the gate never stops the run
workflow.yaml:15:16 constant-condition `exit_when` is always false, so it never ends the loop
workflow.yaml:20:17 constant-condition `expect` is always true, so it proves nothing\
""")


def test_conditions_over_inputs_and_rounds_are_left_alone() -> None:
    found = lint_steps(
        """
        - {name: maybe, type: script, command: make, when: deep}
        - name: look
          type: agent-loop
          prompt: Review the changes of this branch.
          exit_when: round >= 2
        """,
        "input: {deep: bool}",
    )
    assert found == ""


def test_an_endless_while_with_a_script_that_leaves_the_loop_is_meant() -> None:
    found = lint_steps("""
        - name: wait
          type: loop
          while: true
          max_iterations: 9
          steps:
            - {name: ready, type: script, command: test -f ready, on_success: exit_loop, on_fail: continue}
    """)
    assert found == ""


def test_an_endless_while_without_a_way_out_is_a_count() -> None:
    found = lint_steps("""
        - name: wait
          type: loop
          while: true
          max_iterations: 9
          steps:
            - {name: ready, type: script, command: make}
    """)
    assert found == snapshot(
        "workflow.yaml:6:12 constant-condition `while` is always true, so the loop runs to max_iterations"
    )


def test_a_guided_condition_that_contradicts_itself_is_found() -> None:
    both = {"and": [{"var": "mode", "equals": "quick"}, {"and": [{"var": "mode", "equals": "thorough"}]}]}
    against = {"and": [{"var": "mode", "equals": "quick"}, {"var": "mode", "not_equals": "QUICK"}]}
    opposite = {"or": [{"and": [{"var": "a", "gt": 1}, {"not": {"var": "a", "gt": 1}}]}]}
    steps = [{"runCondition": each} for each in (both, against, opposite, {})]
    assert lint_guided(steps) == snapshot("""\
workflow.json:11:23 constant-condition the run condition is never true: 'mode' cannot equal both 'quick' and 'thorough'
workflow.json:32:23 constant-condition the run condition is never true: 'mode' must and must not equal 'QUICK'
workflow.json:49:23 constant-condition the run condition is never true: it requires a condition and its opposite
workflow.json:72:23 constant-condition the run condition is empty, which is always true\
""")


def test_a_guided_condition_with_several_words_for_one_value_is_left_alone() -> None:
    either = {"or": [{"var": "mode", "equals": "quick"}, {"var": "mode", "equals": "thorough"}]}
    number = {"and": [{"var": "n", "equals": 3}, {"var": "n", "equals": "3"}]}
    assert lint_guided([{"runCondition": either}, {"runCondition": number}]) == ""


def test_a_contradiction_in_a_loop_or_a_fragment_is_found() -> None:
    never = {"and": [{"var": "mode", "equals": 1}, {"var": "mode", "equals": 2}]}
    loop = {"type": "while", "condition": never, "maxIterations": 3}
    body = [{"id": "inner", "title": "Inner", "prompt": "Look at it."}]
    fragment = {"promptFragments": [{"id": "more", "text": "More.", "when": never}]}
    found = lint_guided([{"type": "loop", "loop": loop, "body": body}, fragment])
    assert found == snapshot("""\
workflow.json:11:15 constant-condition the loop's condition is never true: 'mode' cannot equal both 1 and 2
workflow.json:39:26 constant-condition the condition of fragment 'more' is never true: 'mode' cannot equal both 1 and 2\
""")


def test_a_loop_whose_body_cannot_change_its_condition_is_found() -> None:
    found = lint_steps(
        """
        - {name: plan, prompt: Make a plan., output: plan}
        - name: work
          type: loop
          until: plan == '' and ready
          max_iterations: 3
          steps:
            - {name: build, type: script, command: make, output: built}
            - {name: show, type: script, command: 'cat "${built}"'}
        - name: wait
          type: loop
          while: steps.plan.status == 'done'
          max_iterations: 3
          steps:
            - {name: sleep, type: script, command: sleep 1}
        """,
        "input: {ready: bool}",
    )
    assert found == snapshot("""\
workflow.yaml:7:12 loop-cannot-change the loop cannot change 'plan' or 'ready': it ends after one round or at the limit
workflow.yaml:14:12 loop-cannot-change the loop cannot change 'steps.plan.status': it never starts or ends at the limit\
""")


def test_a_loop_that_waits_for_its_body_is_left_alone() -> None:
    found = lint_steps("""
        - name: by-output
          type: loop
          until: built == 'ok'
          max_iterations: 3
          steps:
            - {name: build, type: script, command: make, output: built}
        - name: by-step
          type: loop
          while: run.cost < 3 or steps.deep_one.exit_code != 0
          max_iterations: 3
          steps:
            - name: inner
              type: loop
              for: 2
              max_iterations: 2
              steps:
                - {name: deep-one, type: script, command: make}
        - name: by-round
          type: loop
          until: round >= 2
          max_iterations: 3
          steps:
            - {name: once, type: script, command: make}
    """)
    assert found == ""


def test_a_loop_that_a_step_of_its_body_can_end_is_left_alone() -> None:
    found = lint_steps(
        """
        - name: work
          type: loop
          until: ready
          max_iterations: 3
          steps:
            - {name: build, type: script, command: make}
            - {name: stop, type: end, when: steps.build.exit_code == 0}
        """,
        "input: {ready: bool}",
    )
    assert found == ""
