"""The behaviour that every event log must show; run this suite against your own adapter.

    from handrail.testing.conformance.log import LogConformance

    class TestMyLog(LogConformance):
        @pytest.fixture
        def world(self, tmp_path):
            return MyWorld(tmp_path)        # anything with `open() -> Log`

Each `open` must return the handle that another process would have on the same storage; the suite closes what it opens.
Only pytest is required, and nothing here depends on a database.
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
    """The full suite for a log; subclass it and provide the fixture `world`."""
