"""Every command as a literal table, so that neither `--help` nor `--version` imports one."""

RUNS: dict[str, tuple[str, str]] = {
    "init": ("handrail.cli.init:command", "Find this repository's agent, checks and set-up; write them down."),
    "demo": ("handrail.cli.demo:command", "See it all in 20 seconds, in a throw-away repository."),
    "run": ("handrail.cli.run:command", "Run a workflow here, and show each step as it happens."),
    "status": ("handrail.cli.status:command", "Show what needs you, what runs and what ended."),
    "inbox": ("handrail.cli.inbox:command", "Show what needs you."),
    "logs": ("handrail.cli.logs:command", "Show everything that happened in a run."),
    "show": ("handrail.cli.show:command", "Show a run's steps, or one step with its output."),
    "why": ("handrail.cli.why:command", "Explain why steps ran, were skipped or repeated."),
    "attach": ("handrail.cli.attach:command", "Watch a run's agents at work, in tmux."),
    "diff": ("handrail.cli.diff:command", "Show what a run or one of its steps changed."),
    "cost": ("handrail.cli.cost:command", "Show what agents took, step by step and in all."),
    "compare": ("handrail.cli.compare:command", "Show runs side by side: outcome, cost, time, changes."),
    "approve": ("handrail.cli.approve:command", "Approve what a run asks about, and go on."),
    "revise": ("handrail.cli.revise:command", "Send the work back with a comment, and go on."),
    "reject": ("handrail.cli.reject:command", "Reject what a run asks about."),
    "answer": ("handrail.cli.answer:command", "Answer a question that a run asks."),
    "tell": ("handrail.cli.tell:command", "Say something to a run's agent while it works."),
    "prefer": ("handrail.cli.prefer:command", "Say how far a guided run goes on alone, and what it may risk."),
    "resume": ("handrail.cli.resume:command", "Let a run go on; what is done is not repeated."),
    "stop": ("handrail.cli.stop:command", "Stop a run for good."),
    "rewind": ("handrail.cli.rewind:command", "Go back to before a step, and go on from there."),
    "fork": ("handrail.cli.fork:command", "Copy a run, as it is or as it was before a step."),
    "apply": ("handrail.cli.apply:command", "Bring a run's changes into your checkout, uncommitted."),
    "merge": ("handrail.cli.merge:command", "Merge a run's branch into the one it began from."),
    "discard": ("handrail.cli.discard:command", "Remove a run's work tree and branch, kept under a ref."),
    "clean": ("handrail.cli.clean:command", "Remove what runs left and nobody needs any more."),
    "mcp": ("handrail.cli.mcp:command", "Let a connected agent walk workflows, over MCP."),
    "take": ("handrail.cli.take:command", "Hand a run to an agent that is connected over MCP."),
    "release": ("handrail.cli.release:command", "Give a run back to Handrail, which goes on with it."),
    "export": ("handrail.cli.export:command", "Write a run into one file."),
    "import-run": ("handrail.cli.import_run:command", "Take in a run that was exported."),
    "doctor": ("handrail.cli.doctor:command", "Check the tools and everything that is recorded."),
    "help": ("handrail.cli.help:command", "Explain a topic or a command."),
    "completion": ("handrail.cli.completion:command", "Print the script that completes commands in your shell."),
}

WORKFLOWS: dict[str, tuple[str, str]] = {
    "list": (
        "handrail.cli.list_workflows:command",
        "Show the workflows that can be used here.",
    ),
    "inspect": (
        "handrail.cli.inspect_workflow:command",
        "Show one workflow: inputs, steps, files, bound on agent calls.",
    ),
    "validate": ("handrail.cli.validate:command", "Check workflows: errors and warnings, each at its line."),
    "lint": ("handrail.cli.lint:command", "Check workflows and advise on what could be better."),
    "test": ("handrail.cli.test_workflows:command", "Run a workflow's tests, with scripted agents."),
    "simulate": ("handrail.cli.simulate:command", "Walk every branch of a workflow without running anything."),
    "compile": ("handrail.cli.compile_workflow:command", "Compile a workflow and show its pinned version."),
    "schema": ("handrail.cli.schema:command", "Print the JSON Schema of workflow.yaml for your editor."),
    "stamp": ("handrail.cli.stamp:command", "Record in a workflow that it meets the current authoring spec."),
    "trust": ("handrail.cli.trust:command", "Look at what a workflow may run, and trust it."),
    "import": ("handrail.cli.import_workflows:command", "Bring in workflows written for other tools."),
}
"""Name: where the command is, and its line in the help."""

DAILY = ("init", "run", "status", "logs", "diff", "approve", "revise", "reject", "resume", "stop", "rewind", "doctor")
"""The dozen that `--help` shows."""

GROUPS: dict[str, tuple[dict[str, tuple[str, str]], str]] = {
    "workflow": (WORKFLOWS, "The same commands, as `handrail workflow list`."),
}
"""Groups of commands: name, its commands, and what its own help says."""

SECTIONS: dict[str, tuple[str, ...]] = {
    "Begin": ("init", "demo", "run", "mcp"),
    "Look": ("status", "inbox", "logs", "show", "why", "attach", "diff", "cost", "compare"),
    "Answer": ("approve", "revise", "reject", "answer", "tell"),
    "Steer": ("resume", "stop", "rewind", "fork", "prefer", "take", "release"),
    "Keep the work, or not": ("apply", "merge", "discard", "clean", "export", "import-run"),
    "Workflows": tuple(WORKFLOWS),
    "Help": ("doctor", "help", "completion"),
}
"""Every command by what it is for: the page of all commands."""

ALIASES = {"ps": "status", "code": "run", "review": "run", "plan": "run"}
"""Other names of commands."""

HIDDEN: dict[str, str] = {"drive": "handrail.cli.drive:command", "view": "handrail.cli.view:command"}
"""Commands that Handrail itself calls, not people: name, and where the command is."""
