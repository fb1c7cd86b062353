import re
from collections.abc import Callable

from inline_snapshot import snapshot

from handrail.authoring.importers import ImportedWorkflows, detect, import_files
from support.authoring.notes_shown import notes, page

WORKFLOW_TS = """\
import type { ProcedureDefinition, SubroutineDefinition } from '@anthropic-ai/cyrus';

/**
 * Subroutine definitions - each step in the workflow
 */
const SUBROUTINES: Record<string, SubroutineDefinition> = {
  coding: {
    name: 'coding',
    promptPath: 'prompts/10-coding.md',
    description: 'Implementation phase - write code, no git operations',
  },
  verify: {
    name: 'verify',
    promptPath: 'prompts/20-verify.md',
    description: 'Run tests, linting, type checking',
  },
  git: {
    name: 'git',
    promptPath: 'prompts/30-git.md',
    description: 'Commit changes, create/update PR',
  },
  summary: {
    name: 'summary',
    promptPath: 'prompts/40-summary.md',
    description: 'Brief summary for Linear',
    singleTurn: true,
  },
};

/**
 * Procedure definition - the sequence of subroutines
 */
const PROCEDURE: ProcedureDefinition = {
  name: 'full-development',
  description: 'Full development workflow with verification',
  subroutines: [
    SUBROUTINES.coding,
    SUBROUTINES.verify,
    SUBROUTINES.git,
    SUBROUTINES.summary,
  ],
};

/**
 * Resolve hook - called once when workflow loads
 *
 * Evolution wraps this to modify paths for A/B testing.
 * Returns the procedure definition (possibly with modified paths).
 */
export async function resolve(context: ResolveContext): Promise<ProcedureDefinition> {
  // Default: return procedure as-is
  // Evolution will wrap this function to modify paths
  return PROCEDURE;
}

/**
 * Context passed to resolve()
 */
export interface ResolveContext {
  issueId: string;
  labels: string[];
  repositoryId: string;
}
"""

HEADER = "<!-- Version: v3 -->\n<!-- Description: Improved error handling -->\n\n"
VERSIONS = '{"prompts": {"10-coding": {"current": "v1", "versions": []}}, "experiments": []}\n'
PROMPTS = {
    "prompts/10-coding.md": HEADER + "# Coding\n",
    "prompts/20-verify.md": "# Verify\n",
    "prompts/30-git.md": "# Git\n",
    "prompts/40-summary.md": "# Summary\n",
}
FOLDER = {
    "workflow.ts": WORKFLOW_TS,
    **PROMPTS,
    "versions/versions.json": VERSIONS,
    "versions/10-coding.v1.md": "# Coding\n",
}


def _inside(folder: str, files: dict[str, str]) -> dict[str, str]:
    return {f"{folder}/{path}": text for path, text in files.items()}


def test_the_folder_is_recognised() -> None:
    assert detect(_inside("workflows/full-development", FOLDER)) == "cyrus"


def test_the_plain_workflow_is_translated(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    imported = import_files(_inside("workflows/full-development", FOLDER))
    assert imported.files["full-development/workflow.yaml"] == snapshot("""\
name: full-development
description: Full development workflow with verification

steps:
  - name: coding
    description: Implementation phase - write code, no git operations
    prompt: prompts/10-coding.md

  - name: verify
    description: Run tests, linting, type checking
    prompt: prompts/20-verify.md
    session: continue

  - name: git
    description: Commit changes, create/update PR
    prompt: prompts/30-git.md
    session: continue

  - name: summary
    description: Brief summary for Linear
    prompt: prompts/40-summary.md
    session: continue
    single_turn: true
""")
    assert page(imported) == snapshot("""\
translated workflows/full-development/workflow.ts:12
  each step continues the conversation of the step before it, as in Cyrus (`session:
  continue`)
""")
    assert problems(imported) == []


def test_prompts_and_versions_are_copied_unchanged() -> None:
    imported = import_files(FOLDER)
    copied = {path: text for path, text in imported.files.items() if not path.endswith(".yaml")}
    assert copied == {f"full-development/{path}": text for path, text in FOLDER.items() if path != "workflow.ts"}


FLAGS_TS = """\
const TOOLS = ['Bash', "Edit"] as const;
const base = { disallowedTools: [...TOOLS], singleTurn: false } satisfies Partial<SubroutineDefinition>;
export const PROCEDURE = {
  name: `Debug Full`,
  labels: ['bug', 'bug'],
  maxDuration: 3,
  subroutines: [
    { ...base, name: 'reproduce', promptPath: './prompts/10-coding.md', requiresApproval: true },
    { name: 'primary', promptPath: 'primary', suppressThoughtPosting: true, },
    { name: 'verify', promptPath: 'subroutines/verifications.md', usesValidationLoop: true, skipLinearPost: true },
    { name: 'summary', promptPath: "prompts/40-summary.md", disallowAllTools: true, 'skipLinearPost': false },
  ],
};
export const resolve = async () => PROCEDURE;
"""


def test_flags_are_mapped_or_named() -> None:
    imported = import_files({"workflow.ts": FLAGS_TS, **PROMPTS})
    assert imported.files["debug-full/workflow.yaml"] == snapshot("""\
name: debug-full

labels:
  - bug

input:
  issue: issue

steps:
  - name: reproduce
    prompt: prompts/10-coding.md
    requires_approval: true
    disallowed_tools:
      - Bash
      - Edit

  - name: primary
    prompt: |
      {{ issue.title }}

      {{ issue.body }}
    session: continue
    suppress_thoughts: true

  - name: verify
    prompt: prompts/subroutines/verifications.md
    session: continue

  - name: summary
    prompt: prompts/40-summary.md
    session: continue
    access: read
    allowed_tools: []
""")
    assert page(imported) == snapshot("""\
changed workflow.ts:1
  the workflow 'Debug Full' is now called 'debug-full'
lost workflow.ts:6
  the key 'maxDuration' has no counterpart
changed workflow.ts:9
  the prompt 'primary' is chosen by labels in Cyrus; here it is the issue's text, and labels
  choose the workflow (`labels:`)
translated workflow.ts:9
  each step continues the conversation of the step before it, as in Cyrus (`session:
  continue`)
lost workflow.ts:10
  the prompt file subroutines/verifications.md is not among the files; the workflow needs it
changed workflow.ts:10
  the prompt subroutines/verifications.md is now prompts/subroutines/verifications.md:
  prompts must be in that folder
lost workflow.ts:10
  the key 'usesValidationLoop' was left out: write the checks as a step of `type: gate` with
  `checks: project` and `fix:`
lost workflow.ts:10
  the key 'skipLinearPost' was left out: posting is configured in the tracker;
  `suppress_thoughts: true` leaves out thoughts
changed workflow.ts:11
  'disallowAllTools' is now `access: read` with an empty list of allowed tools
translated workflow.ts:11
  'skipLinearPost' is false, which is the default here
""")


LOGIC_TS = """\
const PROCEDURE = {
  name: 'full-development',
  subroutines: [{ name: 'coding', promptPath: 'prompts/10-coding.md' }],
};
const now = Date.now();
export async function resolve(context) {
  if (context.labels.includes('fast')) {
    return { ...PROCEDURE, subroutines: [] };
  }
  return PROCEDURE;
}
"""


def test_logic_is_named_with_its_line_and_the_data_is_kept(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    imported = import_files({"workflow.ts": LOGIC_TS, "prompts/10-coding.md": "# Coding\n"})
    assert problems(imported) == []
    assert page(imported) == snapshot("""\
lost workflow.ts:5
  a declaration is not plain data and was left out: in `now`, `Date` is not a constant of
  plain data
lost workflow.ts:7
  resolve() does more than return a constant, and its logic was left out; write it as `def
  resolve(context)` in workflow.py
""")


def test_a_file_that_cannot_be_read_gives_the_prompts_in_their_order() -> None:
    files = {
        "workflow.ts": "export default build(`${x}`) #",
        "prompts/20-b.md": "b",
        "prompts/100-c.md": "c",
        "prompts/5-a.md": "a",
    }
    imported = import_files(_inside("my-flow", files))
    assert imported.files["my-flow/workflow.yaml"] == snapshot("""\
name: my-flow

steps:
  - name: a
    prompt: prompts/5-a.md

  - name: b
    prompt: prompts/20-b.md
    session: continue

  - name: c
    prompt: prompts/100-c.md
    session: continue
""")
    assert page(imported) == snapshot("""\
lost my-flow/workflow.ts:1
  a declaration is not plain data and was left out: unexpected `#`
lost my-flow/workflow.ts:1
  no list of subroutines could be read; the steps are the prompts in order
translated my-flow/workflow.ts:1
  each step continues the conversation of the step before it, as in Cyrus (`session:
  continue`)
""")


def test_a_folder_without_workflow_ts_is_made_from_its_prompts() -> None:
    imported = import_files(_inside("plan-mode", {"prompts/10-plan.md": "Plan.\n", "versions/versions.json": "{}"}))
    assert (
        imported.files["plan-mode/workflow.yaml"]
        == "name: plan-mode\n\nsteps:\n  - name: plan\n    prompt: prompts/10-plan.md\n"
    )


def test_a_prompt_that_looks_like_a_template_is_named() -> None:
    imported = import_files({"prompts/10-a.md": "one\n{{ github.sha }}\n"})
    assert any(note.line == 2 and "template: off" in note.message for note in imported.notes)


def test_a_file_of_another_kind_is_named() -> None:
    imported = import_files({**FOLDER, "helper.ts": "export {}"})
    assert any(note.startswith("helper.ts:1 the file was not imported") for note in notes(imported, "lost"))


def test_a_prompt_outside_of_its_folder_is_moved_to_where_a_workflow_reads_it(
    problems: Callable[[ImportedWorkflows], list[str]],
) -> None:
    main = WORKFLOW_TS.replace("prompts/10-coding.md", "subroutines/coding.md")
    files = {"flow/workflow.ts": main, "flow/subroutines/coding.md": "Write the code.\n"}
    files |= {f"flow/{path}": "Do it well.\n" for path in re.findall(r"prompts/[\w-]+\.md", main)}
    imported = import_files(files)
    assert problems(imported) == []
    moved = next(path for path in imported.files if path.endswith("coding.md"))
    assert moved.endswith("/prompts/subroutines/coding.md")
    assert "the prompt subroutines/coding.md is now prompts/subroutines/coding.md" in "\n".join(
        each.message for each in imported.notes
    )
