"""What every event log must do: run this against an adapter of your own.

    from handrail.testing.log_conformance import LogConformance

    class TestMyLog(LogConformance):
        @pytest.fixture
        def world(self, tmp_path):
            return MyWorld(tmp_path)        # anything with `open() -> Log`

Each `open` must give what another process would hold of the same storage; the suite closes what it opens. Only
pytest is needed, and nothing here knows of a database.
"""

from handrail.testing.log_blobs_conformance import BlobConformance
from handrail.testing.log_driving_conformance import DrivingConformance
from handrail.testing.log_inbox_conformance import InboxConformance
from handrail.testing.log_lease_conformance import LeaseConformance
from handrail.testing.log_model_conformance import ModelConformance
from handrail.testing.log_stream_conformance import StreamConformance
from handrail.testing.log_worlds import LogWorld

__all__ = ["LogConformance", "LogWorld"]


class LogConformance(
    StreamConformance, DrivingConformance, InboxConformance, BlobConformance, LeaseConformance, ModelConformance
):
    """All behaviour of a log; subclass it and give the fixture `world`."""
