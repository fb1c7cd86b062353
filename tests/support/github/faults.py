"""Faults by script: which call fails, and how."""

import threading
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias, get_args

How: TypeAlias = Literal[
    "502 before",
    "502 after effect",
    "500 before",
    "500 after effect",
    "cut before",
    "cut after effect",
    "timeout",
    "timeout before",
    "secondary limit",
    "secondary limit 429",
    "primary limit",
    "primary limit 429",
    "401",
    "403",
    "404",
    "duplicated",
    "reordered",
]
"""`timeout` never answers, after the effect; `duplicated` and `reordered` change the list that is answered."""


@dataclass(slots=True)
class Fault:
    """One fault, which strikes the n-th call that matches, or `times` calls from it on."""

    pattern: str
    how: How
    nth: int = 1
    times: int = 1
    retry_after: int = 1
    seen: int = 0
    struck: int = 0
    done: threading.Event = field(default_factory=threading.Event)
    """Set once it struck and its effect, if it has one, is there: what a caller that gave up waits for."""


@dataclass(slots=True)
class Faults:
    """The faults of a test."""

    planned: list[Fault] = field(default_factory=list[Fault])

    def plan(self, fault: Fault) -> Fault:
        """Add a fault."""
        if fault.how not in get_args(How):
            raise ValueError(f"unknown fault {fault.how!r}")
        self.planned.append(fault)
        return fault

    def strike(self, label: str) -> Fault | None:
        """Return the fault that strikes a call, and count the call for all of them."""
        found: Fault | None = None
        for fault in self.planned:
            if fnmatchcase(label, fault.pattern):
                fault.seen += 1
                if found is None and fault.nth <= fault.seen < fault.nth + fault.times:
                    fault.struck += 1
                    found = fault
        return found
