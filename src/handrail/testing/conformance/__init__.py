"""Conformance suites: the behaviour that every adapter of a port must show, as tests to run against your own.

The engine knows its surroundings only through ports: a log that stores events, processes that outlive their starter,
agents that print lines. A type checker sees that an adapter has the right methods, but not whether an append after a
lost lease is refused or whether half a line counts as success; and the engine's laws (one writer per run, a message
counts once, history is never rewritten) hold only if each adapter does its part. So each of these ports has one suite,
which runs against the real adapter, its in-memory twin and adapters from elsewhere. That is why tests of the engine may
use the twins: the behaviour that the engine relies on has been checked to be the same.

A suite is a base class whose tests take the adapter from a fixture or an abstract method; subclass it as `Test...` and
provide that one. It uses nothing but the port, so it makes no assumption about how an adapter works:

- `log.LogConformance` opens several handles on one storage, as several processes would, and lets them compete: order
  and versions of streams, leases, the inbox, blobs, summaries, and what a writer learns that has lost its lease.
- `processes.ProcessesSuite` starts scripted commands, adopts them a second time, waits for them and ends them.
- `agents.AgentConformance` checks how an agent is launched, and feeds its reader with recorded streams, with the same
  streams cut or changed at random, and with junk: nothing may raise, and only the agent's own final event is a success.
- `trackers.TrackerConformance` and `pull_requests.PullRequestConformance` write everything twice, as after a crash, and
  let people and competing runs act in between.

Passing a suite is necessary, not sufficient: durability after a power failure or real concurrency between machines
cannot be observed through a port and needs tests of the adapter's own.
"""
