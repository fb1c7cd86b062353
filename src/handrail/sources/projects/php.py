"""A PHP project with a composer.json, tested with PHPUnit or Pest."""

from handrail.sources.projects.evidence import (
    Check,
    ProjectEvidence,
    ProjectFolder,
    build_file_check,
    filter_command,
    find_globs,
    find_table,
)

CONFIGURED = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
FAILED = "^Tests: [0-9]+, Assertions: [0-9]+.*(Failures|Errors): [1-9]"
_LISTED = (
    '$o = json_decode(stream_get_contents(STDIN), true); foreach ($o["installed"] ?? [] as $p) '
    'echo $p["name"], " ", $p["version"], " ", $p["latest"], "\\n";'
)


def find(look: ProjectFolder) -> ProjectEvidence | None:
    """Find the tests, and how dependencies are installed."""
    configured = look.has(*CONFIGURED)
    if not look.has("composer.json") and not configured:
        return None
    package = look.json("composer.json")
    needs = {**find_table(package, "require"), **find_table(package, "require-dev")}
    runner = "pest" if "pestphp/pest" in needs else "phpunit" if configured or "phpunit/phpunit" in needs else ""
    program = f"vendor/bin/{runner}" if f"{runner}/{runner}" in needs or runner == "pest" else runner
    pattern = FAILED if runner == "phpunit" else "^ *Tests: +.*[0-9]+ failed"
    return ProjectEvidence(
        "php",
        (Check("test", program, configured or "composer.json"),) if runner else (),
        ("composer install --no-interaction",) if package else (),
        one=build_file_check(program, 1, 2, when=pattern) if runner else None,
        sources=find_globs(look, "src", "app", "lib"),
        outdated=filter_command("composer outdated --direct --no-ansi --format=json", f"php -r '{_LISTED}'")
        if package
        else "",
        update='composer require "$PACKAGE:^$VERSION" --with-dependencies --no-interaction' if package else "",
    )
