"""How a log must handle blobs."""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

from handrail.errors import NotFound
from handrail.ports.hash_chain import digest_of
from handrail.ports.log import Append
from handrail.testing.conformance.log_worlds import LogWorld, event, handle, refusing


class BlobConformance:
    """Tests of large contents, which are named by their SHA-256."""

    def test_a_content_comes_back_under_its_digest(self, world: LogWorld) -> None:
        with handle(world) as log:
            for data in (b"", b"short", b"long " * 100_000, bytes(range(256)) * 64):
                digest = log.put_blob(data)
                assert digest == digest_of(data) == log.put_blob(data)
                assert log.get_blob(digest) == data

    def test_a_content_that_was_never_kept_is_not_found(self, world: LogWorld) -> None:
        with handle(world) as log, refusing(NotFound):
            log.get_blob(digest_of(b"unknown"))

    def test_contents_can_be_kept_in_the_append_that_names_them(self, world: LogWorld) -> None:
        with handle(world) as log:
            digest = digest_of(b"prompt")
            log.append([Append("a", 0, (event(digest),), blobs=(b"prompt", b"prompt"))], [])
            assert log.get_blob(digest) == b"prompt"

    def test_an_erased_content_is_gone_and_the_chain_stays_valid(self, world: LogWorld) -> None:
        with handle(world) as log:
            digest = log.put_blob(b"my secret")
            log.append([Append("a", 0, (event(digest),))], [])
            assert log.erase_blob(digest)
            assert not log.erase_blob(digest)
            with refusing(NotFound):
                log.get_blob(digest)
            assert log.check().is_healthy
            assert log.read("a")[0].payload == digest.encode()

    def test_an_erased_content_that_is_kept_again_is_there_again(self, world: LogWorld) -> None:
        with handle(world) as log:
            digest = log.put_blob(b"x")
            log.erase_blob(digest)
            assert log.get_blob(log.put_blob(b"x")) == b"x"
