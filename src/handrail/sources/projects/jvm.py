"""A Maven or Gradle project."""

from handrail.sources.projects.evidence import Check, ProjectEvidence, ProjectFolder, build_file_check, filter_command

GRADLE = ("build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle")
CLASS = '"$(basename "$FILE" | sed \'s/[.][a-z]*$//\')"'
"""The name of the class that a test file contains."""
MAVEN_FAILED = r"Tests run: [0-9]+, Failures: ([1-9]|0, Errors: [1-9])"
_UPDATES = r"sed -n 's/^\[INFO\] *\([^ ]*:[^ ]*\) [. ]*\([^ ]*\) -> \([^ ]*\)$/\1 \2 \3/p'"
_VERSIONS = "-DforceVersion=true -DgenerateBackupPoms=false"


def find(look: ProjectFolder) -> ProjectEvidence | None:
    """Find the tests, called through the wrapper of the project where it has one."""
    if look.has("pom.xml"):
        return _maven(look)
    file = look.has(*GRADLE)
    if not file:
        return None
    gradle = "./gradlew" if look.has("gradlew") else "gradle"
    return ProjectEvidence(
        "gradle",
        (Check("test", f"{gradle} test", file),),
        one=build_file_check(f"{gradle} test --tests {CLASS}", 1, when="There were failing tests"),
        sources=("**/src/main/**",),
    )


def _maven(look: ProjectFolder) -> ProjectEvidence:
    maven = "./mvnw" if look.has("mvnw") else "mvn"
    one = f"{maven} -B test -Dsurefire.failIfNoSpecifiedTests=false -Dtest={CLASS}"
    return ProjectEvidence(
        "maven",
        (Check("test", f"{maven} -B test", "pom.xml"),),
        one=build_file_check(one, 1, when=MAVEN_FAILED),
        sources=("**/src/main/**",),
        outdated=filter_command(f"{maven} -B versions:display-dependency-updates", _UPDATES),
        update=f'{maven} -B versions:use-dep-version -Dincludes="$PACKAGE" -DdepVersion="$VERSION" {_VERSIONS}',
    )
