"""A Cargo package or workspace."""

from handrail.sources.projects.evidence import (
    Check,
    ProjectEvidence,
    ProjectFolder,
    build_file_check,
    checks_of,
    filter_command,
    find_table,
)

FILE = "Cargo.toml"
ONE = (
    'case "$FILE" in *tests/*/main.rs) t=$(basename "$(dirname "$FILE")");; *tests/*.rs) t=$(basename "$FILE" .rs);; '
    '*) t=;; esac; if [ -n "$t" ]; then cargo testEVERY --test "$t"; else cargo testEVERY; fi'
)
"""A file of tests/ is a test target of its own; for any other file all tests are run."""
NOTE = "unit tests live in the sources here: src is product code, and fix-bug writes its test as a file of tests/"
_UPDATES = "sed -n 's/^ *Updating \\([^ ]*\\) v\\([^ ]*\\) -> v\\([^ ]*\\).*/\\1 \\2 \\3/p'"
CLIPPY = ("clippy.toml", ".clippy.toml")


def find(look: ProjectFolder) -> ProjectEvidence | None:
    """Find the tests, and clippy where it is in use."""
    if not look.has(FILE):
        return None
    manifest = look.toml(FILE)
    every = " --workspace" if "workspace" in manifest else ""
    evidence = _clippy(
        look, bool(find_table(manifest, "lints", "clippy") or find_table(manifest, "workspace", "lints", "clippy"))
    )
    clippy = Check("lint", f"cargo clippy{every} --all-targets -- -D warnings", evidence) if evidence else None
    return ProjectEvidence(
        "rust",
        checks_of((Check("test", f"cargo test{every}", FILE), clippy)),
        notes=(NOTE,),
        one=build_file_check(ONE.replace("EVERY", every), 101, when="^test result: FAILED"),
        sources=("**/src/**",) if every else ("src/**",),
        outdated=filter_command("cargo update --dry-run 2>&1", _UPDATES),
        update='cargo update -p "$PACKAGE" --precise "$VERSION"',
    )


def _clippy(look: ProjectFolder, configured: bool) -> str:
    if configured:
        return FILE
    pipelines = look.look_into(look.folder / ".github" / "workflows")
    named = [name for name in pipelines.entries() if "cargo clippy" in pipelines.text(name)]
    return look.has(*CLIPPY) or (f".github/workflows/{named[0]}" if named else "")
