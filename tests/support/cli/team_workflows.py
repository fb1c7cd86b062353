"""Workflows of a team, and what their scripted agents do."""

TWO = """\
name: NAME
steps:
  - name: first
    prompt: Write the first file now.
    done_when: [{exists: first.txt}]
    retry: 1
  - {name: second, prompt: Change the program now.}
"""


PLAYS = {
    "first": [
        {"files": {"draft.txt": "draft\n"}, "say": "a draft"},
        {"files": {"draft.txt": None, "first.txt": "first\n"}, "say": "done"},
    ],
    "second": [{"files": {"app.txt": "one\n2\n"}, "say": "changed"}],
}


FAN = """\
name: NAME
steps:
  - name: items
    type: script
    command: echo '[{"id":"a"},{"id":"b"}]'
    returns: [{id: slug}]
    output: items
  - name: build
    type: parallel-agents
    for_each: ${items}
    key: item.id
    steps:
      - {name: make, prompt: 'Make {{ item.id }} now.'}
      - {name: test, command: 'test -f "${item.id}.txt"'}
    output: built
  - {name: combine, type: merge, from: '${built}'}
"""


BUILDS = {
    "build[a]/make": [{"files": {"a.txt": "a\n"}}],
    "build[b]/make": [{"files": {"b.txt": "b\n"}}],
}
