"""Every command as a literal table, so that neither `--help` nor `--version` imports one."""

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
    "compile": ("handrail.cli.compile_workflow:command", "Compile a workflow and show its pinned version."),
    "schema": ("handrail.cli.schema:command", "Print the JSON Schema of workflow.yaml for your editor."),
    "stamp": ("handrail.cli.stamp:command", "Record in a workflow that it meets the current authoring spec."),
    "trust": ("handrail.cli.trust:command", "Look at what a workflow may run, and trust it."),
    "import": ("handrail.cli.import_workflows:command", "Bring in workflows written for other tools."),
}
"""Name: where the command is, and its line in the help."""
