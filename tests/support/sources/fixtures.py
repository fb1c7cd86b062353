"""Fixtures of the tests of what is found on the disk."""

from pathlib import Path

import pytest

from handrail.sources.trust.store import TrustStore
from support.sources.workplace import Workplace


@pytest.fixture
def work(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


@pytest.fixture
def store(work: Workplace) -> TrustStore:
    return TrustStore(work.folders)


@pytest.fixture
def main(work: Workplace) -> Path:
    work.workflow("fix/prompts/10-a.md", "first\n")
    return work.workflow("fix/workflow.py", work.python("fix"))
