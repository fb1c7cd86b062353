"""What a called workflow gives back: the outputs of its steps, and nothing of what it was given."""

from support.runtime.room import Room

CHILD = """\
name: kid
input: {who: string, times: {type: int, default: 2}}
steps:
  - {name: hi, command: 'echo hello ${who}', output: said}
  - name: twice
    type: loop
    for: 2
    max_iterations: 2
    steps:
      - {name: in, command: 'echo ${round}', output: last-one}
  - {name: never, command: 'true', when: 'false', output: missed}
"""
PARENT = """\
name: parent
steps:
  - {name: call, type: workflow, workflow: kid, input: {who: world}, output: kid}
  - {name: say, command: 'echo ${steps.call.output.said} ${kid.last_one}', output: all}
"""


def test_a_called_workflow_gives_its_outputs_and_not_its_inputs(room: Room) -> None:
    room.workflows["kid"] = CHILD
    state = room.run(PARENT)
    assert state.status == "succeeded"
    assert state.steps["call"].output == {"last_one": "2", "said": "hello world"}
    assert state.names["all"] == "hello world 2"


def test_what_failed_gives_what_it_had(room: Room) -> None:
    room.workflows["kid"] = (
        "name: kid\ninput: {who: string}\nsteps:\n  - {name: a, command: 'echo ok', output: got}\n"
        "  - {name: b, command: 'exit 1', on_fail: fail}\n"
    )
    call = "{name: call, type: workflow, workflow: kid, input: {who: x}, on_fail: continue}"
    state = room.run(f"name: p\nsteps:\n  - {call}\n")
    assert state.steps["call"].output == {"got": "ok"}
