"""Every command as a literal table, so that neither `--help` nor `--version` imports one."""

RUNS: dict[str, tuple[str, str]] = {
    "init": ("handrail.cli.begin.init:command", "Find this repository's agent, checks and set-up; write them down."),
    "demo": ("handrail.cli.demo.command:command", "See it all in 20 seconds, in a throw-away repository."),
    "run": ("handrail.cli.begin.run:command", "Run a workflow here, and show each step as it happens."),
    "status": ("handrail.cli.look.status:command", "Show what needs you, what runs and what ended."),
    "inbox": ("handrail.cli.look.inbox:command", "Show what needs you."),
    "logs": ("handrail.cli.look.logs:command", "Show everything that happened in a run."),
    "show": ("handrail.cli.look.show:command", "Show a run's steps, or one step with its output."),
    "why": ("handrail.cli.look.why:command", "Explain why steps ran, were skipped or repeated."),
    "attach": ("handrail.cli.look.attach:command", "Watch a run's agents at work, in tmux."),
    "diff": ("handrail.cli.look.diff:command", "Show what a run or one of its steps changed."),
    "cost": ("handrail.cli.look.cost:command", "Show what agents took, step by step and in all."),
    "compare": ("handrail.cli.look.compare:command", "Show runs side by side: outcome, cost, time, changes."),
    "approve": ("handrail.cli.steer.approve:command", "Approve what a run asks about, and go on."),
    "revise": ("handrail.cli.steer.revise:command", "Send the work back with a comment, and go on."),
    "reject": ("handrail.cli.steer.reject:command", "Reject what a run asks about."),
    "answer": ("handrail.cli.steer.answer:command", "Answer a question that a run asks."),
    "tell": ("handrail.cli.steer.tell:command", "Say something to a run's agent while it works."),
    "prefer": ("handrail.cli.steer.prefer:command", "Say how far a guided run goes on alone, and what it may risk."),
    "resume": ("handrail.cli.steer.resume:command", "Let a run go on; what is done is not repeated."),
    "stop": ("handrail.cli.steer.stop:command", "Stop a run for good."),
    "rewind": ("handrail.cli.steer.rewind:command", "Go back to before a step, and go on from there."),
    "fork": ("handrail.cli.steer.fork:command", "Copy a run, as it is or as it was before a step."),
    "apply": ("handrail.cli.keep.apply:command", "Bring a run's changes into your checkout, uncommitted."),
    "merge": ("handrail.cli.keep.merge:command", "Merge a run's branch into the one it began from."),
    "discard": ("handrail.cli.keep.discard:command", "Remove a run's work tree and branch, kept under a ref."),
    "clean": ("handrail.cli.keep.clean:command", "Remove what runs left and nobody needs any more."),
    "mcp": ("handrail.cli.begin.mcp:command", "Let a connected agent walk workflows, over MCP."),
    "connect": ("handrail.cli.begin.connect:command", "Connect an agent or an editor to Handrail, or undo it."),
    "take": ("handrail.cli.steer.take:command", "Hand a run to an agent that is connected over MCP."),
    "release": ("handrail.cli.steer.release:command", "Give a run back to Handrail, which goes on with it."),
    "export": ("handrail.cli.keep.export:command", "Write a run into one file."),
    "import-run": ("handrail.cli.keep.import_run:command", "Take in a run that was exported."),
    "notify": ("handrail.cli.begin.notify:command", "Try out who is told when a run needs a person."),
    "doctor": ("handrail.cli.begin.doctor:command", "Check the tools and everything that is recorded."),
    "help": ("handrail.cli.help:command", "Explain a topic or a command."),
    "completion": ("handrail.cli.completion:command", "Print the script that completes commands in your shell."),
}

WORKFLOWS: dict[str, tuple[str, str]] = {
    "new": ("handrail.cli.workflows.new:command", "Write a new workflow to start from, with a prompt and a test."),
    "list": (
        "handrail.cli.workflows.list:command",
        "Show the workflows that can be used here.",
    ),
    "inspect": (
        "handrail.cli.workflows.inspect:command",
        "Show one workflow: inputs, steps, files, bound on agent calls.",
    ),
    "validate": ("handrail.cli.workflows.validate:command", "Check workflows: errors and warnings, each at its line."),
    "lint": ("handrail.cli.workflows.lint:command", "Check workflows and advise on what could be better."),
    "test": ("handrail.cli.workflows.test:command", "Run a workflow's tests, with scripted agents."),
    "simulate": (
        "handrail.cli.workflows.simulate:command",
        "Walk every branch of a workflow without running anything.",
    ),
    "compile": ("handrail.cli.workflows.compile:command", "Compile a workflow and show its pinned version."),
    "schema": ("handrail.cli.workflows.schema:command", "Print the JSON Schema of workflow.yaml for your editor."),
    "stamp": ("handrail.cli.workflows.stamp:command", "Record in a workflow that it meets the current authoring spec."),
    "trust": ("handrail.cli.workflows.trust:command", "Look at what a workflow may run, and trust it."),
    "import": ("handrail.cli.workflows.import_:command", "Bring in workflows written for other tools."),
}
"""Command name -> where the command is, and its line in the help."""

DAILY = ("init", "run", "status", "logs", "diff", "approve", "revise", "reject", "resume", "stop", "rewind", "doctor")
"""The twelve commands that `--help` shows."""

GROUPS: dict[str, tuple[dict[str, tuple[str, str]], str]] = {
    "workflow": (WORKFLOWS, "The same commands, as `handrail workflow list`."),
}
"""Groups of commands: name -> its commands, and its own help text."""

SECTIONS: dict[str, tuple[str, ...]] = {
    "Begin": ("init", "demo", "run", "connect", "mcp"),
    "Look": ("status", "inbox", "logs", "show", "why", "attach", "diff", "cost", "compare"),
    "Answer": ("approve", "revise", "reject", "answer", "tell"),
    "Steer": ("resume", "stop", "rewind", "fork", "prefer", "take", "release"),
    "Keep the work, or not": ("apply", "merge", "discard", "clean", "export", "import-run"),
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
    "approve": "it decides what a run asks a person",
    "revise": "it decides what a run asks a person",
    "reject": "it decides what a run asks a person",
    "answer": "it says what an agent asked a person",
    "prefer": "it says how far a run goes on without a person, and what it may risk",
    "trust": "it decides which commands and which code may run",
    "init": "what it writes is trusted",
    "new": "what it writes is trusted",
    "connect": "it writes to the configuration of the person's agents",
    "release": "it lets commands run that nobody has looked at, and takes a run from its holder",
    "take": "it hands a run over, with a token that completes its steps",
    "rewind": "it gives up what a run has done",
    "fork": "it makes runs that pass for the person's",
    "import-run": "it makes runs that pass for the person's",
    "apply": "it changes the person's checkout",
    "merge": "it moves the person's branches",
    "discard": "it stops a run for good and removes its files",
    "clean": "it removes worktrees, branches and snapshots",
    "doctor": "a repair cuts what was recorded",
    "notify": "it runs the person's own command, and sends in their name",
    "mcp": "a new key makes tokens of connected agents void",
}
"""Commands that act for a person, with the reason: an agent or the command of a step may not call them."""

CHILD_COMMANDS: dict[str, str] = {
    "stop": "it ends a run for good",
    "resume": "it lets a run go on, where that costs more too",
    "tell": "agents take it for the person's word",
}
"""Commands that an agent may call only for runs that its own run started; they are recorded as the agent's."""

ANY_COMMANDS: dict[str, str] = {
    **dict.fromkeys(("status", "inbox", "logs", "show", "why", "attach", "diff", "cost", "compare"), "it only looks"),
    **dict.fromkeys(("list", "inspect", "validate", "lint", "simulate", "compile", "schema"), "it only looks"),
    **dict.fromkeys(("help", "completion", "view"), "it only looks"),
    "run": "workflows call others; it runs what is trusted, asks nobody, and is recorded as the agent's",
    "test": "it runs what is trusted, with a log of its own",
    "demo": "it has a repository and a log of its own",
    "export": "it only reads the log",
    "import": "it writes workflows, which need trust",
    "stamp": "it writes a workflow, which needs trust",
    "drive": "it goes on with what was decided, and asks nobody",
}
"""Commands that act for nobody in particular, with the reason."""

ONLY_LOOKS = {"trust": "show", "clean": "dry_run"}
"""The option that makes a command of `PERSON_COMMANDS` read-only, so that anybody may call it."""

ACTS_WITH = {"doctor": "repair", "mcp": "rotate_key"}
"""The option without which anybody may call a command of `PERSON_COMMANDS`."""
