import pytest
from inline_snapshot import snapshot

from support.compiler.native_case import lint_guided, lint_steps


def test_a_prompt_that_asks_for_a_forbidden_tool_is_found() -> None:
    found = lint_steps("""
        - name: look
          disallowed_tools: [WebFetch, Bash]
          prompt: |
            Read the page with WebFetch.
            Run `Bash` to see the log.
        - name: only
          allowed_tools: [Read, "Bash(git diff:*)"]
          prompt: |
            Use Bash for the diff and `Grep` for the rest. Then open the Write tool.
    """)
    assert found == snapshot("""\
workflow.yaml:7:26 forbidden-in-prompt the prompt asks for the tool WebFetch, which `disallowed_tools` forbids
workflow.yaml:8:11 forbidden-in-prompt the prompt asks for the tool Bash, which `disallowed_tools` forbids
workflow.yaml:12:33 forbidden-in-prompt the prompt asks for the tool Grep, which is not in `allowed_tools`
workflow.yaml:12:68 forbidden-in-prompt the prompt asks for the tool Write, which is not in `allowed_tools`\
""")


def test_a_tool_that_is_allowed_or_warned_of_is_left_alone() -> None:
    found = lint_steps("""
        - name: look
          disallowed_tools: [WebFetch, Bash, Write]
          prompt: |
            Do not use WebFetch. Never call `Bash`.
            Write ten lines. Read the log.
        - name: free
          prompt: Use WebFetch and `Bash` as you like.
    """)
    assert found == ""


def test_a_reader_that_is_told_to_write_is_found_in_the_prompt_file() -> None:
    found = lint_steps(
        "- {name: look, access: read, prompt: look}",
        files={
            "prompts/10-look.md": "<!-- Version: v1 -->\n\nLook at the diff.\n\n"
            "- Fix the failing tests.\n- Then commit your changes.\n- Edit src/app.py where needed.\n"
            "- Finish with `git push origin`.\n"
        },
    )
    assert found == snapshot("""\
prompts/10-look.md:5:3 forbidden-in-prompt the prompt asks to 'Fix the failing tests', but the agent has `access: read`
prompts/10-look.md:6:8 forbidden-in-prompt the prompt asks to 'commit', but the agent has `access: read`
prompts/10-look.md:7:3 forbidden-in-prompt the prompt asks to 'Edit src/app.py', but the agent has `access: read`
prompts/10-look.md:8:15 forbidden-in-prompt the prompt asks to '`git push origin`', but the agent has `access: read`\
""")


@pytest.mark.parametrize(
    "sentence",
    [
        "Write at most ten lines for the person who decides. Change no files.",
        "Do not edit any files.",
        "Review the changes without changing the code.",
        "Write a review of the tests.",
        "Write down which files are affected.",
        "Say what a change to the code would break.",
        "Report every commit on the branch.",
        "Create a list of findings about the code.",
        "The author wrote the tests first.",
        "If you change code in your head, say so.",
        "Move on to the tests.",
        "Never commit or push.",
    ],
)
def test_a_reader_that_is_told_to_report_is_left_alone(sentence: str) -> None:
    assert lint_steps(f"- {{name: look, access: read, prompt: '{sentence}'}}") == ""


def test_an_editor_may_be_told_to_write() -> None:
    assert lint_steps("- {name: work, prompt: Fix the failing tests. Commit your changes.}") == ""


def test_a_placeholder_in_a_prompt_where_the_name_is_known_is_found() -> None:
    found = lint_steps(
        """
        - {name: plan, prompt: Make a plan., output: plan}
        - name: each
          type: loop
          for_each: ${files}
          as: file
          max_iterations: 5
          steps:
            - name: work
              input: {style: short}
              prompt: |
                Plan: ${plan}, file ${file.name}, round ${round}, ${style}, ${issue.title}, ${files}.
        - name: test
          type: gate
          command: make test
          fix: Repair ${failures} please.
        - {name: done, type: script, command: 'echo "${plan}"'}
        """,
        "input: {files: list}",
    )
    assert found == snapshot("""\
workflow.yaml:14:17 placeholder-in-prompt `${plan}` is plain text in a prompt; the agent does not see the value
workflow.yaml:14:31 placeholder-in-prompt `${file.name}` is plain text in a prompt; the agent does not see the value
workflow.yaml:14:51 placeholder-in-prompt `${round}` is plain text in a prompt; the agent does not see the value
workflow.yaml:14:61 placeholder-in-prompt `${style}` is plain text in a prompt; the agent does not see the value
workflow.yaml:14:71 placeholder-in-prompt `${issue.title}` is plain text in a prompt; the agent does not see the value
workflow.yaml:14:87 placeholder-in-prompt `${files}` is plain text in a prompt; the agent does not see the value
workflow.yaml:18:17 placeholder-in-prompt `${failures}` is plain text in a prompt; the agent does not see the value\
""")


def test_a_placeholder_that_names_nothing_here_is_text() -> None:
    found = lint_steps("""
        - name: early
          prompt: Write ${plan}, ${HOME}, $${issue.title} and {{ issue.title }} and ${failures}.
        - {name: plan, prompt: Make a plan., output: plan}
        - name: many
          type: parallel-agents
          for_each: [1, 2]
          steps:
            - {name: inner, prompt: Do part one., access: read, output: secret}
            - {name: after, prompt: 'Use {{ secret }} and {{ plan }} now.', access: read}
        - {name: outside, prompt: 'The ${secret} is not allowed here.'}
    """)
    assert found == ""


@pytest.mark.parametrize("name", ["stillFuzzy", "still_fuzzy", "contextAuditNeeded", "context-audit-needed"])
def test_a_name_for_a_feeling_is_found(name: str) -> None:
    found = lint_steps(f"- {{name: look, prompt: 'Set {name} to true if it feels so.'}}")
    assert found == f"workflow.yaml:4:31 vibes-only '{name}' asks for a feeling, which cannot be checked"


def test_a_name_for_a_feeling_is_found_in_returns_conditions_and_files() -> None:
    found = lint_steps(
        """
        - name: look
          prompt: look
          output: seen
          returns: {stillFuzzy: bool}
        - {name: more, prompt: Look again at it., when: seen.stillFuzzy}
        """,
        files={"prompts/look.md": "Say contextAuditNeeded.\n"},
    )
    assert found == snapshot("""\
workflow.yaml:7:15 vibes-only 'stillFuzzy' asks for a feeling, which cannot be checked
workflow.yaml:8:56 vibes-only 'stillFuzzy' asks for a feeling, which cannot be checked
prompts/look.md:1:5 vibes-only 'contextAuditNeeded' asks for a feeling, which cannot be checked\
""")


def test_a_name_for_a_fact_is_left_alone() -> None:
    assert lint_steps("- {name: look, prompt: Count the open questions and audit the fuzzy ones.}") == ""


def test_words_that_invite_to_do_little_are_found() -> None:
    found = lint_guided(
        [
            {"prompt": "Review the plan.\n\nDo a light scan of the rest. Then report."},
            {"promptBlocks": {"goal": "Make the smallest change.", "procedure": ["Add tests if appropriate."]}},
            {"prompt": "You may skip the tests."},
        ],
        metaGuidance=["A minimal pass is fine."],
    )
    assert found == snapshot("""\
workflow.json:7:8 lazy-wording 'minimal pass' sets no minimum, so the least possible effort is good enough
workflow.json:13:43 lazy-wording 'light scan' sets no minimum, so the least possible effort is good enough
workflow.json:19:27 lazy-wording 'smallest' sets no minimum, so the least possible effort is good enough
workflow.json:21:22 lazy-wording 'if appropriate' sets no minimum, so the least possible effort is good enough
workflow.json:28:18 lazy-wording 'You may' sets no minimum, so the least possible effort is good enough\
""")


@pytest.mark.parametrize(
    "text",
    [
        "Do a light scan of the rest. Read at least every changed file.",
        "Make the smallest change that makes the test pass.",
        "Implement the smallest correct change.",
        "Add tests if appropriate, but record why when you add none.",
        "You may not skip the tests.",
        "If the simulation is worth it, you may spawn one more agent.",
        "You may also ask for a second opinion.",
    ],
)
def test_soft_words_with_a_floor_are_left_alone(text: str) -> None:
    assert lint_guided([{"prompt": text}]) == ""
