from pathlib import Path

import pytest
from workplace import Workplace

from handrail.sources.trust.store import TrustStore


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
