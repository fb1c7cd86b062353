"""How long authoring takes: compiling large workflows, a whole catalogue, and starting the command.

Run with `make bench`. Each figure is the best of several rounds and stands beside a peer measured in the same run, so
that a slow machine slows both.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from handrail.authoring.read import read_bundle
from handrail.compiler.catalog import Catalog
from handrail.compiler.compile import compile_document
from handrail.compiler.lint import lint
from handrail.compiler.outcome import CompileResult
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, SourceText
from handrail.sources.library import builtins

CATALOGUE = Path(__file__).parent.parent / ".." / "shared" / "data" / "workrail-3.29"
BLOCK = """\
  - name: ask{n}
    prompt: Handle part {n} of {{{{ base }}}}
    output: out{n}
    retry: 1
  - name: run{n}
    command: make part PART="${{base}}"
    when: steps.ask{n}.attempts < 3
  - name: gate{n}
    checks: {{test: make test}}
  - name: ok{n}
    type: approval
    message: part ${{out{n}}}
"""


def workflow(steps: int) -> str:
    blocks = "".join(BLOCK.format(n=number) for number in range(steps // 4))
    return "name: large\ninput:\n  base: string = main\ndefaults: {agent: claude/sonnet}\nsteps:\n" + blocks


def best(run: Callable[[], object], rounds: int = 5, clock: Callable[[], float] = time.process_time) -> float:
    """Milliseconds of the fastest round: of processor time, unless another process does the work."""
    times: list[float] = []
    for _ in range(rounds):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times) * 1000


def compile_one(text: str, name: str, catalog: Catalog) -> CompileResult:
    report = Report()
    document = read_bundle(Bundle(name, {name: SourceText(name, text)}), report)
    if document is None:
        raise SystemExit(f"{name}: {report.diagnostics}")
    compiled = compile_document(document, catalog, report)
    if not compiled.ok:
        raise SystemExit(f"{name}: {compiled.diagnostics[:3]}")
    return compiled


def large(steps: int) -> float:
    """Measure one size in a process of its own, so that no size pays for the garbage of another."""
    done = subprocess.run([sys.executable, __file__, str(steps)], check=True, capture_output=True, text=True)
    line, whole = done.stdout.strip().rsplit("\n", 1)
    print(line)
    return float(whole)


def measure(steps: int, catalog: Catalog) -> None:
    text = workflow(steps)
    rounds = 5 if steps < 5000 else 2
    bundle = Bundle("w.yaml", {"w.yaml": SourceText("w.yaml", text)})
    reading = best(lambda: read_bundle(bundle, Report()), rounds)
    whole = best(lambda: compile_one(text, "w.yaml", catalog), rounds)
    compiled = compile_one(text, "w.yaml", catalog)
    document = read_bundle(bundle, Report())
    linting = best(lambda: document and lint(compiled, document, catalog), rounds)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    peer = best(lambda: yaml.load(text, loader), rounds)  # pyright: ignore[reportUnknownArgumentType,reportUnknownMemberType]
    print(
        f"{steps:>6} steps, {len(text) / 1024:.0f} KB: read and compile {whole:.0f} ms"
        f" (reading {reading:.0f}; PyYAML's own load {peer:.0f}, ratio {whole / peer:.1f}), lint {linting:.0f} ms"
    )
    print(whole)


def catalogue(catalog: Catalog) -> None:
    if not CATALOGUE.is_dir():
        print("catalogue: not here, left out")
        return
    texts = {path.name: path.read_text("utf-8") for path in sorted(CATALOGUE.rglob("*.json"))}
    del texts["dashboard-template-workflow.json"]
    peer = best(lambda: [json.loads(text) for text in texts.values()])
    whole = best(lambda: [compile_one(text, name, catalog) for name, text in texts.items()], 3)
    size = sum(map(len, texts.values())) / 1024
    print(
        f"catalogue, {len(texts)} files, {size:.0f} KB: {whole:.0f} ms"
        f" ({whole / len(texts):.1f} a file; json.loads of all {peer:.0f})"
    )


def start_up() -> None:
    command = str(Path(sys.executable).with_name("handrail"))

    def run(*words: str) -> float:
        return best(lambda: subprocess.run(words, check=True, capture_output=True), 15, time.perf_counter)

    nothing = run(sys.executable, "-c", "pass")
    click = run(sys.executable, "-c", "import click")
    version = run(command, "--version")
    listing = run(command, "list", "--json")
    print(
        f"handrail --version {version:.0f} ms; import click {click:.0f}; ratio {version / click:.2f};"
        f" bare Python {nothing:.0f}"
    )
    print(f"handrail list --json {listing:.0f} ms")


def main() -> None:
    catalog = Catalog(builtins())
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]), catalog)
        return
    small = large(1000)
    big = large(10000)
    print(f"growth from 1,000 to 10,000 steps: {big / small:.1f} times")
    catalogue(catalog)
    start_up()


if __name__ == "__main__":
    main()
