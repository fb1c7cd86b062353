"""Every command as a literal table, so that neither `--help` nor `--version` imports one."""

RUNS: dict[str, tuple[str, str]] = {
    "init": ("handrail.cli.begin.init:command", "Detect this repository's agent, checks and set-up, and save them."),
    "demo": ("handrail.cli.demo.command:command", "See how it works in 20 seconds, in a temporary repository."),
    "run": ("handrail.cli.begin.run:command", "Run a workflow here, and show each step as it happens."),
    "status": ("handrail.cli.look.status:command", "Show which runs need you, are running or have ended."),
    "inbox": ("handrail.cli.look.inbox:command", "Show what needs you."),
    "logs": ("handrail.cli.look.logs:command", "Show everything that happened in a run."),
    "show": ("handrail.cli.look.show:command", "Show a run's steps, or one step with its output."),
    "why": ("handrail.cli.look.why:command", "Explain why steps ran, were skipped or repeated."),
    "attach": ("handrail.cli.look.attach:command", "Watch a run's agents at work, in tmux."),
    "diff": ("handrail.cli.look.diff:command", "Show what a run or one of its steps changed."),
    "blame": ("handrail.cli.look.blame:command", "Show which run and step, or which person, wrote a line."),
    "cost": ("handrail.cli.look.cost:command", "Show cost, tokens and time, per step and in total."),
    "compare": ("handrail.cli.look.compare:command", "Show runs side by side: outcome, cost, time, changes."),
    "approve": ("handrail.cli.steer.approve:command", "Approve what a run is waiting for, and continue it."),
    "revise": ("handrail.cli.steer.revise:command", "Send the work back with a comment, and continue."),
    "reject": ("handrail.cli.steer.reject:command", "Reject what a run is waiting for."),
    "answer": ("handrail.cli.steer.answer:command", "Answer a run's question, and continue it."),
    "tell": ("handrail.cli.steer.tell:command", "Send a message to a run's agent while it works."),
    "prefer": ("handrail.cli.steer.prefer:command", "Set how autonomous a guided run is, and its risk level."),
    "resume": ("handrail.cli.steer.resume:command", "Continue a run; finished steps are not repeated."),
    "stop": ("handrail.cli.steer.stop:command", "Stop a run for good."),
    "rewind": ("handrail.cli.steer.rewind:command", "Go back to before a step, and continue from there."),
    "fork": ("handrail.cli.steer.fork:command", "Copy a run, as it is or as it was before a step."),
    "apply": ("handrail.cli.keep.apply:command", "Apply a run's changes to your checkout, uncommitted."),
    "merge": ("handrail.cli.keep.merge:command", "Merge a run's branch into the one it started from."),
    "pr": ("handrail.cli.keep.pr:command", "Push a run's branch, and open or update its pull request."),
    "discard": ("handrail.cli.keep.discard:command", "Remove a run's worktree and branch (a backup ref is kept)."),
    "clean": ("handrail.cli.keep.clean:command", "Remove leftovers of runs that are no longer needed."),
    "mcp": ("handrail.cli.begin.mcp:command", "Serve workflows to a connected agent over MCP."),
    "connect": ("handrail.cli.begin.connect:command", "Connect an agent or an editor to Handrail, or undo it."),
    "take": ("handrail.cli.steer.take:command", "Hand a run over to an agent connected over MCP."),
    "release": ("handrail.cli.steer.release:command", "Return a run to Handrail, which continues it."),
    "export": ("handrail.cli.keep.export:command", "Export a run to a single file."),
    "import-run": ("handrail.cli.keep.import_run:command", "Import a run that was exported."),
    "notify": ("handrail.cli.begin.notify:command", "Send a test notification to yourself or a channel."),
    "doctor": ("handrail.cli.begin.doctor:command", "Check the required tools and the recorded data."),
    "help": ("handrail.cli.help:command", "Explain a topic or a command."),
    "completion": ("handrail.cli.completion:command", "Print the completion script for your shell."),
}

WORKFLOWS: dict[str, tuple[str, str]] = {
    "new": ("handrail.cli.workflows.new:command", "Create a new workflow, with a prompt and a test."),
    "list": (
        "handrail.cli.workflows.list:command",
        "List the workflows that are available here.",
    ),
    "inspect": (
        "handrail.cli.workflows.inspect:command",
        "Show one workflow: inputs, steps, files, number of agent calls.",
    ),
    "validate": ("handrail.cli.workflows.validate:command", "Check workflows: errors and warnings, each at its line."),
    "lint": ("handrail.cli.workflows.lint:command", "Check workflows and suggest improvements."),
    "test": ("handrail.cli.workflows.test:command", "Run a workflow's tests, with scripted agents."),
    "simulate": (
        "handrail.cli.workflows.simulate:command",
        "Walk every branch of a workflow without running anything.",
    ),
    "compile": ("handrail.cli.workflows.compile:command", "Compile a workflow and show its pinned version."),
    "schema": ("handrail.cli.workflows.schema:command", "Print the JSON Schema of workflow.yaml for your editor."),
    "stamp": ("handrail.cli.workflows.stamp:command", "Record in a workflow that it meets the current authoring spec."),
    "trust": ("handrail.cli.workflows.trust:command", "Review what a workflow may run, and trust it."),
    "import": ("handrail.cli.workflows.import_:command", "Import workflows written for other tools."),
}
"""Command name -> where the command is, and its line in the help."""

ISSUES: dict[str, tuple[str, str]] = {
    "create": ("handrail.cli.issues.create:command", "Create an issue."),
    "list": ("handrail.cli.issues.list:command", "List the issues of this repository."),
    "show": ("handrail.cli.issues.show:command", "Show an issue with its dependencies and comments."),
    "ready": ("handrail.cli.issues.ready:command", "List what can be worked on now, and why the rest cannot."),
    "update": ("handrail.cli.issues.update:command", "Change fields of an issue."),
    "close": ("handrail.cli.issues.update:close_command", "Close issues."),
    "dep": ("handrail.cli.issues.dep:command", "Let an issue depend on another, or no longer."),
    "comment": ("handrail.cli.issues.comment:command", "Comment on an issue."),
    "claim": ("handrail.cli.issues.claim:command", "Claim an issue, so that nobody else works on it."),
    "release": ("handrail.cli.issues.claim:release_command", "Release an issue that somebody has claimed."),
    "import": ("handrail.cli.issues.transfer:command", "Import issues from JSON lines, as beads exports them."),
    "export": ("handrail.cli.issues.transfer:export_command", "Export the issues as JSON lines."),
}
"""The commands of the group `issues`."""

DAILY = ("init", "run", "status", "logs", "diff", "approve", "revise", "reject", "resume", "stop", "rewind", "doctor")
"""The twelve commands that `--help` shows."""

GROUPS: dict[str, tuple[dict[str, tuple[str, str]], str]] = {
    "workflow": (WORKFLOWS, "The commands about workflows: `handrail workflow list`."),
    "issues": (ISSUES, "The issues of this repository: `handrail issues list`."),
}
"""Groups of commands: name -> its commands, and its own help text."""

SECTIONS: dict[str, tuple[str, ...]] = {
    "Start": ("init", "demo", "run", "connect", "mcp"),
    "Look": ("status", "inbox", "logs", "show", "why", "attach", "diff", "blame", "cost", "compare"),
    "Answer": ("approve", "revise", "reject", "answer", "tell"),
    "Steer": ("resume", "stop", "rewind", "fork", "prefer", "take", "release"),
    "Keep or discard the work": ("apply", "merge", "pr", "discard", "clean", "export", "import-run"),
    "Workflows": tuple(WORKFLOWS),
    "Help": ("doctor", "notify", "help", "completion"),
}
"""Every command by purpose: the page of all commands."""

ALIASES = {"ps": "status"}
"""Other names of commands."""

SUGGESTIONS = dict.fromkeys(
    ("plan", "code", "review"), 'handrail run WORKFLOW "..." (handrail list shows the workflows)'
)
"""What people type that is not a command, with what to type instead."""

HIDDEN: dict[str, str] = {
    "drive": "handrail.cli.steer.background_driver:command",
    "view": "handrail.cli.look.agent_window:command",
}
"""Commands that Handrail itself calls, not people: name -> where the command is."""

PERSON_COMMANDS: dict[str, str] = {
    "approve": "it makes a decision that a run asked a person for",
    "revise": "it makes a decision that a run asked a person for",
    "reject": "it makes a decision that a run asked a person for",
    "answer": "it answers a question that an agent asked a person",
    "prefer": "it sets how autonomous a run is, and its risk level",
    "trust": "it decides which commands and which code may run",
    "init": "what it writes is trusted",
    "new": "what it writes is trusted",
    "connect": "it writes to the configuration of the person's agents",
    "release": "it allows commands that nobody has reviewed, and takes a run from its holder",
    "take": "it hands a run over, with a token that completes its steps",
    "rewind": "it undoes what a run has done",
    "fork": "it creates runs in the person's name",
    "import-run": "it creates runs in the person's name",
    "apply": "it changes the person's checkout",
    "merge": "it changes the person's branches",
    "pr": "it publishes work in the person's name",
    "discard": "it stops a run for good and removes its files",
    "clean": "it removes worktrees, branches and snapshots",
    "doctor": "a repair truncates recorded data",
    "notify": "it runs the person's own command, and sends messages in their name",
    "mcp": "a new key invalidates tokens of connected agents",
    "issues update": "it decides what is to be done, and how urgent it is",
    "issues close": "it decides that an issue is done",
    "issues release": "it takes an issue from whoever works on it",
    "issues import": "it replaces issues of the person",
}
"""Commands that act for a person, with the reason: an agent or the command of a step may not call them."""

CHILD_COMMANDS: dict[str, str] = {
    "stop": "it ends a run for good",
    "resume": "it continues a run, even where that costs more",
    "tell": "agents treat it as the person's word",
}
"""Commands that an agent may call only for runs that its own run started; they are recorded as the agent's."""

ANY_COMMANDS: dict[str, str] = {
    **dict.fromkeys(("status", "inbox", "logs", "show", "why", "attach", "diff"), "it is read-only"),
    **dict.fromkeys(("blame", "cost", "compare"), "it is read-only"),
    **dict.fromkeys(("list", "inspect", "validate", "lint", "simulate", "compile", "schema"), "it is read-only"),
    **dict.fromkeys(("help", "completion", "view"), "it is read-only"),
    "run": "workflows call others; it runs only trusted content, never prompts, and is recorded as the agent's",
    "test": "it runs what is trusted, with a log of its own",
    "demo": "it has a repository and a log of its own",
    "export": "it only reads the log",
    "import": "it writes workflows, which need trust",
    "stamp": "it writes a workflow, which needs trust",
    **dict.fromkeys(("issues list", "issues show", "issues export"), "it is read-only"),
    "issues ready": "it releases only claims of runs that are over",
    **dict.fromkeys(("issues create", "issues comment", "issues dep"), "it is recorded as the agent's"),
    "issues claim": "it is recorded as the claim of the agent's run, and ends with it",
    "drive": "it continues what was decided, and never prompts",
}
"""Commands that act for no particular person, with the reason."""

ONLY_LOOKS = {"trust": "show", "clean": "dry_run"}
"""The option that makes a command of `PERSON_COMMANDS` read-only, so that anybody may call it."""

ACTS_WITH = {"doctor": "repair", "mcp": "rotate_key"}
"""The option without which anybody may call a command of `PERSON_COMMANDS`."""
