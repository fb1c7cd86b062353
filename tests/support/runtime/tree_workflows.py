"""Workflows that together do everything that agents, commands and git can do in a run, each with its script."""

import json
from dataclasses import dataclass

SETUP = ("echo ready > .ready; sleep 0.02", "test -f .ready")


@dataclass(frozen=True)
class Case:
    """A workflow, what its agent plays, and where a person goes back while it runs."""

    text: str
    script: str
    held: bool = False
    """Whether a step holds until a person has sent the run back."""
    back_to: str = ""
    """The step it goes back to."""
    setup: tuple[str, ...] = SETUP


STEPS = Case(
    text="""
name: steps
input: {outside: string}
steps:
  - name: make
    prompt: Make the file please
    output: made
    returns: {path: path, words: int}
    done_when:
      - changed: "*.txt"
      - passes: test -f "${made.path}"
    retry: 2
  - {name: extend, session: make, prompt: Write one more line please, output: extended}
  - name: checks
    type: gate
    checks: {ok: grep -q fixed b.txt, there: test -f b.txt}
    fix: {prompt: Fix the checks please, max: 2}
  - name: review
    type: agent-loop
    reviewer: {prompt: Review the changes please, access: read}
    arbiter: {prompt: Is it actionable at all?, access: read}
    fixer: Fix the findings please
    checks: {greets: grep -q hello b.txt}
    max_iterations: 4
    output: review
  - {name: keep, type: commit, message: 'add ${made.path}', paths: [b.txt]}
  - {name: rest, type: commit, message: the rest}
  - {name: weak, command: 'echo gone > gone.txt; exit 3', on_fail: undo}
  - {name: last, command: 'cat b.txt; ls', output: seen}
""",
    script="""
make:
  - {say: no file yet, output: {path: b.txt}}
  - {say: not yet, files: {half.txt: "half\\n"}, output: {path: b.txt, words: 1}}
  - {say: made it, files: {b.txt: "one\\n"}, output: {path: b.txt, words: 1}, usage: {input_tokens: 9, cost: 0.25}}
extend: [{run: 'echo two > c.txt; sleep 0.05; echo three >> c.txt', say: more}]
checks/fix: [{files: {b.txt: "fixed\\n"}, say: fixed}]
review/reviewer:
  - output: {findings: [{file: b.txt, line: 1, rule: style, severity: high, message: no greeting}]}
  - output: {findings: []}
review/arbiter: [{output: {actionable: true}}]
review/fixer:
  - {files: {b.txt: "fixed, hallo\\n"}, say: nearly}
  - {files: {b.txt: "fixed, hello\\n"}, run: 'git add b.txt; git commit -qm "by the agent"', say: done}
""",
)
FAN = Case(
    text="""
name: fan
input: {outside: string}
steps:
  - {name: begin, command: 'echo begun > begun.txt'}
  - name: list
    type: script
    command: |
      printf '[{"id": "a", "after": []}, {"id": "b", "after": ["a"]}, {"id": "c", "after": []},'
      printf '{"id": "d", "after": []}, {"id": "e", "after": []}]'
    returns: [{id: slug, after: [slug]}]
    output: items
  - name: build
    type: parallel-agents
    for_each: ${items}
    key: item.id
    after: item.after
    max_concurrent: 2
    steps:
      - name: implement
        prompt: |
          Do {{ item.id }} now.
      - {name: test, type: gate, checks: {ok: 'test "${item.id}" != c'}}
    on_fail: continue
    output: built
  - name: combine
    type: merge
    from: ${built}
    on_conflict: {prompt: Resolve the conflict please, max: 2}
    checks: {whole: test -f a.txt && test -f b.txt}
    on_fail: continue
  - {name: last, command: 'cat shared.txt; ls', output: seen}
""",
    script="""
"build[a]/implement": [{files: {a.txt: "a\\n", shared.txt: "by a\\n"}, say: a}]
"build[b]/implement": [{run: 'cat a.txt > b.txt', say: b}]
"build[c]/implement": [{files: {c.txt: "c\\n"}, say: c}]
"build[d]/implement": [{files: {d.txt: "d\\n", shared.txt: "by d\\n"}, say: d}]
"build[e]/implement": [{files: {e.txt: "e\\n", shared.txt: "by e\\n"}, say: e}]
"combine/d/resolve":
  - {say: I left the markers}
  - {files: {shared.txt: "by a and d\\n"}, say: resolved}
"combine/e/resolve": [{say: I cannot, files: {try.txt: "t\\n"}, repeat: true}]
""",
)
BACK = Case(
    text="""
name: back
input: {outside: string}
steps:
  - {name: one, command: 'test -f .ready && echo one > one.txt'}
  - {name: two, prompt: Write two please}
  - {name: keep, type: commit, message: two}
  - name: hold
    command: 'echo dirt > dirt.txt; touch "${outside}/held"; until test -e "${outside}/rewound"; do sleep 0.01; done'
  - name: bump
    type: loop
    for_each: ${['x', 'y', 'z']}
    as: dep
    max_iterations: 5
    on_fail: undo
    steps:
      - {name: install, command: 'echo "${dep}" >> deps.txt; echo "${dep}" > "new-${dep}.txt"'}
      - {name: note, prompt: Write a note please}
      - {name: test, type: gate, checks: {good: 'test "${dep}" != y'}}
      - {name: kept, type: commit, message: 'bump ${dep}'}
  - {name: last, command: 'cat deps.txt; ls', output: seen}
""",
    script="""
two: [{files: {two.txt: "two\\n"}, say: two}]
"bump[*]/note": [{run: 'echo noted >> notes.txt', say: noted, repeat: true}]
""",
    held=True,
    back_to="two",
)
GONE = Case(
    text="""
name: gone
input: {outside: string}
steps:
  - {name: one, command: 'echo one > one.txt'}
  - name: build
    type: parallel-agents
    for_each: ${['p', 'q']}
    key: item
    max_concurrent: 1
    steps:
      - name: implement
        prompt: |
          Do {{ item }} now.
      - {name: hold, command: 'touch "${outside}/held"; until test -e "${outside}/rewound"; do sleep 0.01; done'}
    output: built
  - {name: combine, type: merge, from: '${built}'}
""",
    script="""
"build[p]/implement": [{files: {p.txt: "p\\n"}, say: p, repeat: true}]
"build[q]/implement": [{files: {q.txt: "q\\n"}, say: q, repeat: true}]
""",
    held=True,
    back_to="one",
)
FAILING = ("i03", "i07", "i12")
AFTER = {"i05": ["i01"], "i10": ["i05", "i02"], "i11": ["i10"], "i13": ["i20"], "i18": ["i17"], "i19": ["i18", "i04"]}
KEYS = [f"i{number:02}" for number in range(1, 21)]
CONFLICTING = ("i14", "i15")
"""The second of them does not fit on the first."""


def _twenty() -> Case:
    items = ", ".join(f'{{"id": "{key}", "after": {json.dumps(AFTER.get(key, []))}}}' for key in KEYS)
    text = f"""
name: twenty
input: {{outside: string}}
steps:
  - name: list
    type: script
    command: |
      echo '[{items}]'
    returns: [{{id: slug, after: [slug]}}]
    output: items
  - name: build
    type: parallel-agents
    for_each: ${{items}}
    key: item.id
    after: item.after
    max_concurrent: 4
    steps:
      - name: implement
        prompt: |
          Do {{{{ item.id }}}} now.
      - {{name: test, type: gate, checks: {{ok: test ! -e broken.txt}}}}
    on_fail: continue
    output: built
  - {{name: combine, type: merge, from: '${{built}}', output: combined}}
"""
    return Case(text, "".join(f'"build[{key}]/implement": [{_turn(key)}]\n' for key in KEYS), setup=())


def _turn(key: str) -> str:
    files = {f"{key}.txt": f"{key}\n"}
    if key in FAILING:
        files["broken.txt"] = f"{key}\n"
    if key in CONFLICTING:
        files["shared.txt"] = f"by {key}\n"
    return json.dumps({"files": files, "say": key})


CASES = {"steps": STEPS, "fan": FAN, "back": BACK, "gone": GONE}
"""What the crash matrix goes through."""
TWENTY = _twenty()
FILES = {"README.md": "hello\n", ".gitignore": ".ready\n*.log\n", "src/app.py": "print(1)\n"}
