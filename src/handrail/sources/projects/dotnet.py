"""A .NET solution or project."""

from handrail.sources.projects.evidence import Check, ProjectEvidence, ProjectFolder, build_file_check, filter_command

ONE = 'DOTNET_CLI_UI_LANGUAGE=en dotnet test --filter "FullyQualifiedName~$(basename "$FILE" .cs)"'
"""Tests are selected by the name of their class, which usually equals that of the file."""


def find(look: ProjectFolder) -> ProjectEvidence | None:
    """Find the tests of the solution or of the project in the root."""
    files = [*look.files(".sln"), *look.files(".slnx"), *look.files(".csproj"), *look.files(".fsproj")]
    if not files:
        return None
    return ProjectEvidence(
        "dotnet",
        (Check("test", "dotnet test", files[0]),),
        ("dotnet restore",),
        one=build_file_check(ONE, 1, when="Failed: +[1-9]"),
        sources=("**/*.{cs,fs,vb}", "!**/*Test*/**", "!**/{test,tests}/**", "!**/*Tests.cs"),
        outdated=filter_command(
            "DOTNET_CLI_UI_LANGUAGE=en dotnet list package --outdated", "awk '$1 == \">\" {print $2, $4, $5}'"
        ),
        update='dotnet add package "$PACKAGE" --version "$VERSION"',
    )
