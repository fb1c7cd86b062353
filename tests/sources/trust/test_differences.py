"""The difference between what was trusted and what is there now."""

from pathlib import Path

from inline_snapshot import snapshot

from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
from support.sources.workplace import Workplace, difference


def test_the_difference_shows_what_changed_since(store: TrustStore, work: Workplace) -> None:
    main = work.workflow("fix/workflow.yaml", "name: fix\nsteps: []\n")
    work.workflow("fix/prompts/10-a.md", "first\n")
    store.trust_snapshot(take(main))
    assert difference(store, main) == ""
    work.workflow("fix/workflow.yaml", "name: fix\nsteps: [{command: make}]\n")
    work.workflow("fix/prompts/20-b.md", "new")
    (main.parent / "prompts" / "10-a.md").unlink()
    assert difference(store, main) == snapshot("""\
--- trusted/prompts/20-b.md
+++ now/prompts/20-b.md
@@ -0,0 +1,2 @@
+new
+\\ no newline at end of file
--- trusted/workflow.yaml
+++ now/workflow.yaml
@@ -1,2 +1,2 @@
 name: fix
-steps: []
+steps: [{command: make}]
""")


def test_what_was_never_trusted_differs_in_everything(store: TrustStore, work: Workplace) -> None:
    main = work.workflow("fix/workflow.yaml", "name: fix\n")
    assert difference(store, main) == snapshot("""\
--- trusted/workflow.yaml
+++ now/workflow.yaml
@@ -0,0 +1 @@
+name: fix
""")


def test_the_difference_hides_nothing_from_the_eye(store: TrustStore, work: Workplace) -> None:
    main = work.workflow("fix/workflow.yaml", "")
    main.write_bytes("a\tb\\t\r\x1b[2K\u202e\u2028c\n".encode())
    assert "+a\tb\\t\\r\\x1b[2K\\u202e\\u2028c\n" in difference(store, main)
    main.write_bytes(b"\xff\x00")
    store.trust_snapshot(take(main))
    main.write_bytes(b"\xfe")
    assert "binary content differs (2 and 1 bytes)" in difference(store, main)


def test_a_kept_content_that_is_gone_or_forged_is_said(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust_snapshot(take(main))
    for blob in (work.folders.data / "trust").iterdir():
        blob.write_text("forged")
    assert store.status_of(take(main).contents).is_granted
    main.write_text("new\n")
    shown = difference(store, main)
    assert shown.startswith("the content that was trusted is no longer stored\n")
    assert "+new" in shown
