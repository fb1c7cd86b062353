"""A Ruby project with a Gemfile or a gemspec, tested with RSpec or Minitest."""

from handrail.sources.projects.evidence import (
    Check,
    ProjectEvidence,
    ProjectFolder,
    build_file_check,
    filter_command,
    find_globs,
    has_word,
)

_UPDATES = r"sed -n 's/^\([^ ]*\) (newest \([^,]*\), installed \([^,)]*\).*/\1 \3 \2/p'"


def find(look: ProjectFolder) -> ProjectEvidence | None:
    """Find the tests, called through bundler where there is a Gemfile."""
    specs = look.files(".gemspec")
    file = look.has("Gemfile") or next(iter(specs), "") or look.has(".rspec")
    if not file:
        return None
    bundle = "bundle exec " if look.has("Gemfile") else ""
    needs = "\n".join(map(look.text, ("Gemfile", "Gemfile.lock", *specs[:1])))
    rspec = look.has(".rspec") or ((look.folder / "spec").is_dir() and has_word(needs, "rspec"))
    minitest = (look.folder / "test").is_dir()
    rails = look.has("bin/rails")
    checks, one = (), None
    if rspec:
        checks = (Check("test", f"{bundle}rspec", file),)
        one = build_file_check(f"{bundle}rspec", 1, when="[1-9][0-9]* failures?")
    elif minitest:
        runs = "bin/rails test" if rails else f"{bundle}rake test"
        checks = (Check("test", runs, look.has("Rakefile") or file),)
        single = "bin/rails test" if rails else f"{bundle}ruby -Ilib -Itest"
        one = build_file_check(single, 1, when="[1-9][0-9]* runs, .*([1-9][0-9]* failures|[1-9][0-9]* errors)")
    return ProjectEvidence(
        "ruby",
        checks,
        ("bundle install",) if bundle else (),
        one=one,
        sources=find_globs(look, "lib", "app", "src"),
        outdated=filter_command("bundle outdated --parseable --only-explicit", _UPDATES, 1) if bundle else "",
        update='bundle update --conservative "$PACKAGE"' if bundle else "",
    )
