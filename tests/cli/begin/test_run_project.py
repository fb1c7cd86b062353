"""What a run knows of the project: pinned from the configuration, and asked for before anything is paid for."""

from inline_snapshot import snapshot

from support.cli.running import Runs

PROVING = """\
name: NAME
steps:
  - name: write
    prompt: Write a test that fails.
    output: made
    returns: {test: path}
    done_when:
      - fails: {check: test_one, file: "${made.test}"}
      - unchanged: ${project.sources}
"""
NAMING = """\
name: NAME
input: {base: 'string = ${project.default_branch}'}
steps:
  - {name: a, command: 'echo "${base} ${project.sources | join(",")}"', output: said}
"""
LISTING = """\
name: NAME
steps:
  - {name: outdated, command: '${project.outdated}', output: listed}
  - name: each
    type: loop
    for_each: ${listed | lines}
    max_iterations: 5
    steps:
      - name: update
        command: ${project.update}
        env: {PACKAGE: "${item | split(' ') | first}", VERSION: "${item | split(' ') | last}"}
"""
CHECKING = "name: NAME\nsteps:\n  - {name: first, prompt: Do it.}\n  - {name: g, type: gate, checks: project}\n"
CALLING = "name: NAME\nsteps:\n  - {name: kid, type: workflow, workflow: naming, input: {base: ''}, output: said}\n"


def configure(runs: Runs, text: str) -> None:
    file = runs.shop.root / ".handrail" / "config.toml"
    file.write_text(text)
    assert runs.call("trust", ".handrail/config.toml", "--yes").exit_code == 0


def test_what_is_not_configured_is_asked_for_before_the_start_with_the_lines_to_add(runs: Runs) -> None:
    runs.add("proving", PROVING)
    assert runs.text("run", "proving", code=2) == snapshot("""\
error: this workflow needs [project] sources and [checks.test_one] in .handrail/config.toml; nothing was started
next: handrail init finds it for most projects; or write into .handrail/config.toml:
  [project]
  sources = ["src/**"]  # where the product's own code is
  [checks.test_one]
  command = "COMMAND"  # runs the tests of $FILE
  failed = [1]  # exit codes that mean a failing test
""")
    runs.add("listing", LISTING)
    assert "[project] outdated and [project] update" in runs.text("run", "listing", code=2)
    runs.add("checking", CHECKING)
    assert runs.text("run", "checking", code=2) == snapshot("""\
error: this workflow runs the project's checks, but .handrail/config.toml has none; nothing was started
next: handrail init finds them for most projects; or write into .handrail/config.toml:
  [checks]
  test = "COMMAND"
""")
    assert runs.json("status")["runs"] == []


def test_what_is_configured_is_used_only_once_it_is_trusted(runs: Runs) -> None:
    runs.add("naming", NAMING)
    file = runs.shop.root / ".handrail" / "config.toml"
    file.write_text('[project]\nsources = ["lib/**", "app/**"]\ndefault_branch = "trunk"\n')
    assert "needs your trust" in runs.text("run", "naming", code=3)
    assert runs.call("trust", ".handrail/config.toml", "--yes").exit_code == 0
    assert runs.json("run", "naming")["outputs"]["said"] == "trunk lib/**,app/**"
    assert runs.json("run", "naming", "--input", "base=next")["outputs"]["said"] == "next lib/**,app/**"


def test_a_called_workflow_sees_the_same_project(runs: Runs) -> None:
    runs.add("naming", NAMING)
    runs.add("calling", CALLING)
    configure(runs, '[project]\nsources = ["lib/**"]\ndefault_branch = "trunk"\n')
    assert runs.json("run", "calling")["outputs"]["said"] == {"said": "trunk lib/**"}


def test_the_projects_commands_are_run_with_values_in_the_environment(runs: Runs) -> None:
    runs.add("listing", LISTING)
    update = 'echo "$PACKAGE=$VERSION" >> updated'
    configure(runs, f"[project]\noutdated = \"printf 'a 1 2\\\\nb 3 4\\\\n'\"\nupdate = '{update}'\n")
    assert runs.json("run", "listing", "--in", ".")["status"] == "succeeded"
    assert (runs.shop.root / "updated").read_text() == "a=2\nb=4\n"


def test_an_input_of_the_same_name_goes_before_the_project(runs: Runs) -> None:
    runs.add(
        "own", "name: NAME\ninput: {project: string}\nsteps:\n  - {name: a, command: 'echo ${project}', output: o}\n"
    )
    assert runs.json("run", "own", "mine")["outputs"]["o"] == "mine"


def test_a_pattern_that_cannot_be_looked_for_in_bounded_time_is_refused_before_the_start(runs: Runs) -> None:
    runs.add("proving", PROVING)
    configure(runs, '[project]\nsources = ["a"]\n[checks.test_one]\ncommand = "x"\nfailed_when = "(?=x)y"\n')
    assert "failed_when of [checks.test_one] in .handrail/config.toml is not a valid pattern" in runs.text(
        "run", "proving", code=2
    )
