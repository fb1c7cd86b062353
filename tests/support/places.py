"""Where the files are that tests read."""

from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
TESTS = SUPPORT.parent
ROOT = TESTS.parent
LIBRARY = ROOT / "src" / "handrail" / "library"
RECORDED = SUPPORT / "agents" / "recorded"
"""What real agents printed."""
CORPUS = TESTS / "corpus"
WORKRAIL = ROOT.parent / "shared" / "data" / "workrail-3.29"
"""WorkRail's own workflows; not on every machine."""
