import pytest
from inline_snapshot import snapshot

from support.compiler.native_case import lint_guided, lint_steps


def test_agent_text_that_the_shell_splits_is_found() -> None:
    found = lint_steps(
        """
        - name: plan
          prompt: Make a plan.
          output: plan
          returns: {branch: string, names: [string]}
        - name: use
          type: script
          env:
            BRANCH: ${plan.branch}
            TITLE: ${issue.title}
            BOTH: by ${ticket.author} for ${base}
            SAID: ${steps.plan.summary}
          command: |
            echo $BRANCH "$(printf %s $TITLE)"
            echo ${BOTH} > out
            cat $SAID
        """,
        "input: {ticket: issue, base: string}",
    )
    assert found == snapshot("""\
workflow.yaml:16:12 unquoted-agent-text $BRANCH contains text from step 'plan' and is not quoted
workflow.yaml:16:33 unquoted-agent-text $TITLE contains text from the issue and is not quoted
workflow.yaml:17:12 unquoted-agent-text $BOTH contains text from the issue and is not quoted
workflow.yaml:18:11 unquoted-agent-text $SAID contains text from step 'plan' and is not quoted\
""")


def test_agent_text_that_is_run_as_code_is_found_even_in_quotes() -> None:
    found = lint_steps("""
        - name: run
          type: gate
          env: {TITLE: "${issue.title}"}
          checks:
            evaluated: eval "echo $TITLE"
            shell: bash -ec "echo $TITLE"
            python: python3 -c "print('$TITLE')"
    """)
    assert found == snapshot("""\
workflow.yaml:8:29 unquoted-agent-text $TITLE contains text from the issue and would be run as code by `eval`
workflow.yaml:9:29 unquoted-agent-text $TITLE contains text from the issue and would be run as code by `bash -ec`
workflow.yaml:10:34 unquoted-agent-text $TITLE contains text from the issue and would be run as code by `python3 -c`\
""")


def test_agent_text_reaches_a_command_through_items_and_inputs() -> None:
    found = lint_steps(
        """
        - name: plan
          prompt: Make a plan.
          output: tasks
          returns: [{id: slug, title: string}]
        - name: each
          type: loop
          for_each: ${tasks}
          as: task
          max_iterations: 9
          steps:
            - name: say
              type: script
              input: {headline: "${task.title}", byline: "by ${input.ticket.author}"}
              env: {ID: "${task.id}", TITLE: "${headline}", BY: "${byline}", UP: "${task.title | upper}"}
              command: echo $ID $TITLE $BY $UP
        """,
        "input: {ticket: issue}",
    )
    assert found == snapshot(
        """\
workflow.yaml:18:27 unquoted-agent-text $TITLE contains text from step 'plan' and is not quoted
workflow.yaml:18:34 unquoted-agent-text $BY contains text from the issue and is not quoted
workflow.yaml:18:38 unquoted-agent-text $UP contains text from step 'plan' and is not quoted\
"""
    )


@pytest.mark.parametrize(
    "command",
    [
        'echo "$TITLE"',
        "echo '$TITLE'",
        "copy=$TITLE",
        "[[ $TITLE == done ]] && echo yes",
        "case $TITLE in x) ;; esac",
        "cat <<END\n$TITLE\nEND",
        'echo "a $(cat "$TITLE") b"',
        "echo ok # $TITLE",
        "echo $OTHER $NUMBER $LEVEL $COUNT $MANY $NEXT $LONE",
        r"echo \$TITLE",
        'bash -c \'echo "$1"\' -; echo "$TITLE"',
    ],
)
def test_quoted_agent_text_and_words_of_a_fixed_form_are_left_alone(command: str) -> None:
    indented = command.replace("\n", "\n    ")
    found = lint_steps(f"""
- name: plan
  prompt: Make a plan.
  output: plan
  returns:
    level: low | high
    items: [string]
- name: use
  type: script
  env:
    TITLE: ${{issue.title}}
    NUMBER: ${{issue.number}}
    LEVEL: ${{plan.level}}
    COUNT: ${{plan.items | length}}
    MANY: ${{plan.items | length > 2 and not (plan.items is empty)}}
    NEXT: ${{issue.number + 1}}
    LONE: ${{steps.plan.status}}
    OTHER: fixed
  command: |
    {indented}
""")
    assert found == ""


def test_delegations_that_may_all_write_share_a_work_tree() -> None:
    two = [{"workflowId": "routine-design-review"}, {"workflowId": "routine-ideation"}]
    step = {"type": "parallel", "parallelDelegations": two, "synthesis": {"prompt": "Join them."}}
    assert lint_guided([step]) == snapshot(
        "workflow.json:11:30 shared-work-tree 2 delegations may write to the same files at the same time"
    )


def test_one_delegation_that_may_write_is_alone() -> None:
    two = [{"workflowId": "routine-design-review"}, {"workflowId": "routine-ideation", "allowedTools": ["Read"]}]
    assert lint_guided([{"type": "parallel", "parallelDelegations": two, "synthesis": {"prompt": "Join."}}]) == ""


def test_a_command_that_leaves_the_work_tree_of_its_item_is_found() -> None:
    found = lint_steps("""
        - name: build
          type: parallel-agents
          for_each: [a, b]
          steps:
            - {name: one, type: script, command: cd /srv/app && make}
            - {name: two, type: script, command: (cd ../shared; make)}
            - {name: three, type: gate, checks: {push: git push origin HEAD, tree: git -C /srv status}}
            - name: four
              prompt: Do the work.
              done_when:
                - passes: git checkout main && make
    """)
    assert found == snapshot("""\
workflow.yaml:8:44 shared-work-tree `cd /srv/app` leaves the item's own worktree while other items run
workflow.yaml:9:45 shared-work-tree `cd ../shared` leaves the item's own worktree while other items run
workflow.yaml:10:50 shared-work-tree `git push origin HEAD` leaves the item's own worktree while other items run
workflow.yaml:10:78 shared-work-tree `git -C /srv` leaves the item's own worktree while other items run
workflow.yaml:14:21 shared-work-tree `git checkout main` leaves the item's own worktree while other items run\
""")


def test_a_command_that_stays_in_its_work_tree_is_left_alone() -> None:
    found = lint_steps("""
        - name: build
          type: parallel-agents
          for_each: [a, b]
          steps:
            - {name: one, type: script, command: (cd web && npm test)}
            - {name: two, type: script, command: git checkout HEAD -- package.json}
            - {name: three, type: script, command: echo "git push"}
        - {name: outside, type: script, command: cd /srv && git push}
    """)
    assert found == ""
