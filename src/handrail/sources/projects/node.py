"""Scripts of a package.json, called with the package manager whose lock file is there."""

import re
from typing import Any

from handrail.frozen import frozen
from handrail.model.workflow.settings import FileCheck
from handrail.sources.projects.evidence import (
    Check,
    ProjectEvidence,
    ProjectFolder,
    build_file_check,
    checks_of,
    ensure_table,
    ensure_texts,
    find_globs,
    find_table,
)

FILE = "package.json"
SCRIPTS = {
    "test": ("test",),
    "lint": ("lint",),
    "types": ("typecheck", "type-check", "types", "check-types", "tsc"),
    "build": ("build",),
}
"""Each check and the scripts that mean it, the best one first."""
FOLDERS = ("src", "source", "lib", "app")
TESTS = ("!**/*.{test,spec}.*", "!**/{test,tests,__tests__}/**")
"""Globs that exclude tests beside the code."""
_JEST = "^Tests: .*[0-9]+ failed"
RUNNERS = {
    "vitest": ("RUN vitest run", "^ *Tests .*[0-9]+ failed"),
    "jest": ("RUN jest --runTestsByPath", _JEST),
    "react-scripts": ("CI=true RUN react-scripts test --watchAll=false --runTestsByPath", _JEST),
    "mocha": ("RUN mocha", "^ *[0-9]+ failing"),
    "ava": ("RUN ava", "^ *[0-9]+ tests? failed"),
}
"""Test runners: how one runs a single file, and the line that shows a failing test. Their exit codes do not help."""
_FLAGS = re.compile(r"--(?:import|require|loader|experimental-[\w-]+)(?:[= ][^\s-]\S*)?")
_LISTED = (
    'const o = JSON.parse(require("fs").readFileSync(0, "utf8") || "{}"); '
    "if (o.error) { console.error(o.error); process.exit(1); } "
    "for (const [n, v] of Object.entries(o)) { const p = [].concat(v)[0]; "
    "if (p.current && p.wanted !== p.current) console.log(n, p.current, p.wanted); }"
)
_YARN = (
    'const t = require("fs").readFileSync(0, "utf8").split("\\n").filter(Boolean).map(l => JSON.parse(l)); '
    'for (const r of t.filter(e => e.type === "table").flatMap(e => e.data.body)) '
    "if (r[1] !== r[2]) console.log(r[0], r[1], r[2]);"
)
UPDATES = {
    "npm": (f"npm outdated --json | node -e '{_LISTED}'", 'npm install "$PACKAGE@$VERSION"'),
    # pnpm's `wanted` is the version in its lock file.
    "pnpm": (
        f"pnpm outdated --format json | node -e '{_LISTED.replace('p.wanted', 'p.latest')}'",
        'pnpm update "$PACKAGE@$VERSION"',
    ),
    "yarn": (f"yarn outdated --json | node -e '{_YARN}'", 'yarn upgrade "$PACKAGE@$VERSION"'),
}
"""Per package manager: how to list outdated packages as lines `NAME CURRENT WANTED`, and how to update one."""
PLACEHOLDER = "no test specified"


@frozen
class Manager:
    """How a package manager is called."""

    name: str
    locks: tuple[str, ...]
    install: str
    """Installs with the lock file, which it must not change."""
    without_lock: str
    everywhere: str
    """Runs a script in every package of a workspace; `{}` stands for its name."""
    execute: str

    def script(self, name: str) -> str:
        """Build the command of a script."""
        # `bun test` is bun's own test runner, not the script.
        short = name == "test" and self.name != "bun"
        return f"{self.name} test" if short else f"{self.name} run {name}"


MANAGERS = (
    Manager(
        *("pnpm", ("pnpm-lock.yaml",), "pnpm install --frozen-lockfile", "pnpm install --no-lockfile"),
        *("pnpm -r --if-present run {}", "pnpm exec"),
    ),
    Manager(
        *("yarn", ("yarn.lock",), "yarn install --frozen-lockfile", "yarn install --no-lockfile"),
        *("yarn workspaces run {}", "yarn run"),
    ),
    Manager(
        *("bun", ("bun.lock", "bun.lockb"), "bun install --frozen-lockfile", "bun install --no-save"),
        *("bun run --filter '*' {}", "bunx"),
    ),
    Manager(
        *("npm", ("package-lock.json", "npm-shrinkwrap.json"), "npm ci", "npm install --no-package-lock"),
        *("npm run {} --workspaces --if-present", "npx"),
    ),
)
_MODERN_YARN = ("yarn install --immutable", "yarn workspaces foreach --all run {}")


def find(look: ProjectFolder) -> ProjectEvidence | None:
    """Find scripts, a type checker, and how dependencies are installed."""
    if not look.has(FILE):
        return None
    package = look.json(FILE)
    if not package:
        return ProjectEvidence("node", notes=(f"{FILE} is not valid JSON, so it was ignored",))
    manager = _manager(look, package)
    scripts, members = find_table(package, "scripts"), _members(look, package)
    found = [_check(manager, scripts, name) or _everywhere(look, manager, members, name) for name in SCRIPTS]
    checks = checks_of([*found[:2], found[2] or _compiler(look, manager, package), found[3]])
    watching = [f"the test script of {FILE} watches files and never ends" for _ in (1,) if _watches(scripts)]
    outdated, update = UPDATES.get(manager.name if not look.has(".yarnrc.yml") else "", ("", ""))
    return ProjectEvidence(
        "node",
        checks,
        _setup(look, manager, package, members),
        tuple(watching),
        one=_detect_file_check(manager, package),
        sources=_sources(look, members),
        outdated=outdated,
        update=update,
    )


def _detect_file_check(manager: Manager, package: dict[str, Any]) -> FileCheck | None:
    """Build the check of one file: with the test runner of the script `test`, else with one among the dependencies."""
    script = str(find_table(package, "scripts").get("test", ""))
    needs = {**find_table(package, "dependencies"), **find_table(package, "devDependencies")}
    for runner, (command, pattern) in RUNNERS.items():
        if re.search(rf"(^|[\s/]){runner}($|\s)", script):
            return build_file_check(command.replace("RUN", manager.execute), when=pattern)
    if re.search(r"\bnode\b.*--test\b", script):
        flags = " ".join(_FLAGS.findall(script))
        return build_file_check(" ".join(f"node {flags} --test-reporter=tap".split()), 1, when="^ *not ok ")
    if re.search(r"\bbun test\b", script) or (manager.name == "bun" and not script):
        return build_file_check('bun test "./$FILE"', 1, when=r"^\(fail\) ")
    known = next((each for runner, each in RUNNERS.items() if runner in needs), None)
    return None if known is None else build_file_check(known[0].replace("RUN", manager.execute), when=known[1])


def _sources(look: ProjectFolder, members: list[ProjectFolder]) -> tuple[str, ...]:
    """Return the usual folders of code, or those of the packages of a workspace, without tests beside the code."""
    found = find_globs(look, *FOLDERS)
    for each in members[:20]:
        path = str(each.folder.relative_to(look.folder))
        found += tuple(f"{path}/{inner}" for inner in find_globs(each, *FOLDERS)) or (f"{path}/**",)
    return (*(found or ("**/*.{js,jsx,ts,tsx,mjs,cjs}", "!**/node_modules/**")), *TESTS)


def _manager(look: ProjectFolder, package: dict[str, Any]) -> Manager:
    named = str(package.get("packageManager", "")).partition("@")[0]
    by_name = [manager for manager in MANAGERS if manager.name == named]
    by_lock = [manager for manager in MANAGERS if look.has(*manager.locks)]
    chosen = (by_name or by_lock or [MANAGERS[-1]])[0]
    if chosen.name == "yarn" and look.has(".yarnrc.yml"):
        install, everywhere = _MODERN_YARN
        return Manager(chosen.name, chosen.locks, install, "yarn install", everywhere, chosen.execute)
    return chosen


def _check(manager: Manager, scripts: dict[str, Any], check: str) -> Check | None:
    for name in SCRIPTS[check]:
        text = scripts.get(name)
        if not isinstance(text, str) or not text.strip() or PLACEHOLDER in text:
            continue
        if name == "test" and _watches(scripts):
            return None
        # It watches files unless it believes that it runs in CI.
        before = "CI=true " if re.search(r"\breact-scripts test\b", text) else ""
        return Check(check, before + manager.script(name), FILE)
    return None


def _watches(scripts: dict[str, Any]) -> bool:
    return re.search(r"--watch(All)?(?![\w=-])", str(scripts.get("test", ""))) is not None


def _compiler(look: ProjectFolder, manager: Manager, package: dict[str, Any]) -> Check | None:
    known = {**find_table(package, "dependencies"), **find_table(package, "devDependencies")}
    if "typescript" not in known or not look.has("tsconfig.json"):
        return None
    return Check("types", f"{manager.execute} tsc --noEmit", "tsconfig.json")


def _members(look: ProjectFolder, package: dict[str, Any]) -> list[ProjectFolder]:
    """List the packages of a workspace, whichever way it is written."""
    listed = package.get("workspaces")
    patterns = ensure_texts(listed) or ensure_texts(ensure_table(listed).get("packages"))
    patterns += re.findall(r"^[ \t]*-[ \t]*['\"]?([^'\"#\s]+)['\"]?", look.text("pnpm-workspace.yaml"), re.MULTILINE)
    found = [member for pattern in patterns if not pattern.startswith("!") for member in look.find_matching(pattern)]
    return [member for member in found if member.has(FILE)]


def _everywhere(look: ProjectFolder, manager: Manager, members: list[ProjectFolder], check: str) -> Check | None:
    """Find a script that only the packages of a workspace have."""
    for name in SCRIPTS[check]:
        having = [one for one in members if _check(manager, find_table(one.json(FILE), "scripts"), check)]
        if any(name in find_table(one.json(FILE), "scripts") for one in having):
            where = ", ".join(str(one.folder.relative_to(look.folder)) for one in having[:3])
            return Check(check, manager.everywhere.format(name), f"{FILE} of {where}")
    return None


def _setup(
    look: ProjectFolder, manager: Manager, package: dict[str, Any], members: list[ProjectFolder]
) -> tuple[str, ...]:
    if look.has(*manager.locks):
        return (manager.install,)
    needs = any(find_table(one, kind) for one in (package, *(each.json(FILE) for each in members)) for kind in _NEEDS)
    return (manager.without_lock,) if needs else ()


_NEEDS = ("dependencies", "devDependencies")
