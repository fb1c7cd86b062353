"""What every event log must do: run this against an adapter of your own.

    from handrail.testing.conformance.log import LogConformance

    class TestMyLog(LogConformance):
        @pytest.fixture
        def world(self, tmp_path):
            return MyWorld(tmp_path)        # anything with `open() -> Log`

Each `open` must give what another process would hold of the same storage; the suite closes what it opens. Only
pytest is needed, and nothing here knows of a database.
"""

from handrail.testing.conformance.log_blobs import BlobConformance
from handrail.testing.conformance.log_drivers import DrivingConformance
from handrail.testing.conformance.log_inbox import InboxConformance
from handrail.testing.conformance.log_leases import LeaseConformance
from handrail.testing.conformance.log_streams import StreamConformance
from handrail.testing.conformance.log_summaries import SummaryConformance
from handrail.testing.conformance.log_worlds import LogWorld

__all__ = ["LogConformance", "LogWorld"]


class LogConformance(
    StreamConformance, DrivingConformance, InboxConformance, BlobConformance, LeaseConformance, SummaryConformance
):
    """All behaviour of a log; subclass it and give the fixture `world`."""
