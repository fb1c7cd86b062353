"""A Go module, or the modules of a go.work."""

import re
import shlex

from handrail.sources.foreign_files import is_contained
from handrail.sources.projects.evidence import Check, ProjectEvidence, ProjectFolder, build_file_check, filter_command

LINTER = (".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json")
ONE = (
    'cd "$(dirname "$FILE")" && go test -run "^($(sed -n '
    "'s/^func \\(\\(Test\\|Example\\|Fuzz\\)[^(]*\\)(.*/\\1/p' "
    '"$(basename "$FILE")" | paste -sd\'|\' -))\\$" .'
)
"""Go tests packages: only the tests of the file are selected, in the folder of the file, whatever its module is."""
_UPDATES = "{{if and .Update (not .Indirect) (not .Main)}}{{.Path}} {{.Version}} {{.Update.Version}}{{end}}"
_USE = re.compile(r"^use[ \t]+(?:\(([^)]*)\)|(\S+))", re.MULTILINE)


def find(look: ProjectFolder) -> ProjectEvidence | None:
    """Find the tests and the linter; `go vet` comes with Go."""
    file = look.has("go.work", "go.mod")
    if not file:
        return None
    packages = "./..." if file == "go.mod" else _modules(look)
    if not packages:
        return None
    linter = look.has(*LINTER)
    command = f"golangci-lint run {packages}" if linter else f"go vet {packages}"
    checks = (Check("test", f"go test {packages}", file), Check("lint", command, linter or file))
    return ProjectEvidence(
        "go",
        checks,
        one=build_file_check(ONE, 1, when="^ *--- FAIL:"),
        sources=("**/*.go", "!**/*_test.go"),
        outdated=filter_command(f"go list -m -u -f '{_UPDATES}' all", "sed '/^$/d'"),
        update='go get "$PACKAGE@$VERSION" && go mod tidy',
    )


def _modules(look: ProjectFolder) -> str:
    """Return the modules of a workspace, each with all its packages."""
    uses = _USE.findall(re.sub(r"//.*", "", look.text("go.work")))
    words = [word.strip('"') for many, one in uses for word in (many or one).split()]
    named = [word.removeprefix("./").rstrip("/") or "." for word in words]
    paths = ["./..." if name == "." else f"./{name}/..." for name in named if is_contained(name) and name.isprintable()]
    return " ".join(map(shlex.quote, paths))
