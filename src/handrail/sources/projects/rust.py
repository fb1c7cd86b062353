"""A Cargo package or workspace."""

from handrail.sources.projects.evidence import Check, Finding, Look, below, checks_of

FILE = "Cargo.toml"
CLIPPY = ("clippy.toml", ".clippy.toml")


def find(look: Look) -> Finding | None:
    """Find the tests, and clippy where somebody uses it."""
    if not look.has(FILE):
        return None
    manifest = look.toml(FILE)
    every = " --workspace" if "workspace" in manifest else ""
    evidence = _clippy(
        look, bool(below(manifest, "lints", "clippy") or below(manifest, "workspace", "lints", "clippy"))
    )
    clippy = Check("lint", f"cargo clippy{every} --all-targets -- -D warnings", evidence) if evidence else None
    return Finding("rust", checks_of((Check("test", f"cargo test{every}", FILE), clippy)))


def _clippy(look: Look, configured: bool) -> str:
    if configured:
        return FILE
    pipelines = look.into(look.folder / ".github" / "workflows")
    named = [name for name in pipelines.entries() if "cargo clippy" in pipelines.text(name)]
    return look.has(*CLIPPY) or (f".github/workflows/{named[0]}" if named else "")
