"""The keys that decide which runs may run at the same time, and how long a whole run may take."""

from handrail.operations.runs.lifecycle import start
from handrail.operations.runs.prepare import RunOptions, prepare
from support.differences.performers import Play
from support.differences.proofs import Benches, Json, flow, proves
from support.differences.workbench import Trace

SAY: Json = {"name": "say", "command": "echo ${run.id}"}
ASK: Json = {"name": "ok", "type": "approval"}
WORK: Json = {"name": "work", "prompt": "Do the work."}


def two(run: Benches, *inputs: str, **head: Json) -> tuple[str, str]:
    """Run two runs of a workflow beside each other; give how they stand."""
    bench = run.bench()
    text = flow(SAY, ASK, input={"base": "string = main"}, **head)
    first, second = bench.run(text), bench.run(text, *inputs)
    bench.drive()
    return first.status, second.status


@proves("workflow.concurrency", "concurrency.key")
def test_runs_with_the_same_key_exclude_each_other(run: Benches) -> None:
    key: Json = {"key": "deps-${base}"}
    assert two(run) == ("waiting", "waiting")
    assert two(run, concurrency=key) == ("waiting", "queued")
    assert two(run, "base=next", concurrency=key) == ("waiting", "waiting")


@proves("concurrency.if_running")
def test_if_running_decides_what_the_second_run_does(run: Benches) -> None:
    def how(word: str) -> tuple[str, str]:
        return two(run, concurrency={"key": "deps", "if_running": word})

    assert how("queue") == ("waiting", "queued")
    assert how("skip") == ("waiting", "cancelled")
    assert how("stop_old") == ("cancelled", "waiting")


@proves("workflow.concurrency", "concurrency.if_running")
def test_a_connected_agent_is_told_that_another_run_has_the_key(run: Benches) -> None:
    connected = Benches(run.folder / "connected", "connected")

    def second(**head: Json) -> str:
        bench = connected.bench()
        text = flow(SAY, ASK, WORK, **head)
        bench.run(text)
        return bench.run(text).status

    assert second() == "waiting"
    assert second(concurrency={"key": "deps", "if_running": "skip"}) == "cancelled"
    assert second(concurrency={"key": "deps", "if_running": "queue"}) == "queued"


@proves("workflow.timeout")
def test_a_run_that_takes_too_long_is_ended(both: Benches) -> None:
    steps = (WORK, {"name": "last", "command": "echo last"})
    slow = {"work": Play(seconds=120)}
    long, short = (both(flow(*steps, timeout=word), plays=slow) for word in ("10m", "1m"))
    assert (long.status, long.commands) == ("succeeded", ["echo last"])
    assert (short.status, short.state.reason, short.commands) == ("failed", "timeout", [])


@proves("config: resources.max_concurrent_instances")
def test_a_limit_of_runs_leaves_the_others_in_the_queue(run: Benches) -> None:
    def ended(config: str) -> tuple[list[str], bool]:
        bench = run.bench(config=config)
        wanted = RunOptions(bench.add(flow(SAY, {**SAY, "name": "again"})), folder=str(bench.work), agent="claude")
        made = [start(bench.system.writer, prepare(bench.machine, bench.place, wanted).request) for _ in range(2)]
        bench.drive()
        traces = [Trace(each, bench) for each in made]
        assert [each.status for each in traces] == ["succeeded", "succeeded"]
        said = [each["HR_1"] for each in traces[0].environments]
        return said, any(event.kind == "run_admitted" for each in traces for event in each.events)

    assert ended("")[1] is False
    assert ended("[resources]\nmax_concurrent_instances = 1\n") == (["case-1", "case-1", "case-2", "case-2"], True)
