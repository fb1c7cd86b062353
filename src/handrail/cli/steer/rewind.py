"""`handrail rewind`."""

import click

from handrail.cli.options import complete_steps, json_option, run_argument


@click.command("rewind", epilog="Example: handrail rewind fix-bug-1 fix")
@run_argument
@click.argument("step", shell_complete=complete_steps)
@json_option
def command(*, run: str, step: str, as_json: bool) -> int:
    """Go back to before a step, and continue from there. What came after stays in the history.

    STEP is an address: fix, fix@2 for its second start, loop[key]/fix inside a loop.
    """
    from handrail.cli.live.follow_run import continue_run, watch
    from handrail.cli.output import note
    from handrail.operations.runs.lifecycle import irreversible_effects, rewind
    from handrail.operations.views.run_document import state_of
    from handrail.wiring.session import current_actor, open_run_session

    with open_run_session() as session:
        found = session.find(run)
        watched = watch(session, found, "handrail rewind", as_json=as_json)
        seq = rewind(session.writer, found, step, str(current_actor()))
        note(f"{found} goes back to before '{step}' (event {seq})")
        state = state_of(session.log, found)
        for what in irreversible_effects(state, seq):
            note(f"this cannot be undone: {what}")
        if state.tree is not None and not state.tree.owned:
            note(f"the files in {state.workspace} stay as they are: the run only borrowed them")
        return continue_run(watched)
