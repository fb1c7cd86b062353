"""What is known of Google's Gemini CLI."""

from handrail.model.history.prices import FamilyPrice, Price
from handrail.model.workflow.agent_names import KnownCapability
from handrail.ports.agent_profiles import AccountFile, AgentProfile, ConfigFolders, ConnectedClient, Login, UserPath

PROFILE = AgentProfile(
    name="gemini",
    adapter="handrail.agents.gemini.adapter:GeminiAgent",
    program="gemini",
    install="npm install -g @google/gemini-cli, then log in with: gemini",
    default="gemini",
    variables=("GEMINI_*", "GOOGLE_*", "CODE_ASSIST_*"),
    login=Login(
        way="gemini",
        variables=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"),
        files=(".gemini/oauth_creds.json", ".gemini/gemini-credentials.json"),
        account=AccountFile("", ".gemini", "google_accounts.json", ("active",)),
    ),
    config=ConfigFolders((".gemini",)),
    project_files=(".gemini/**/*", ".env"),
    files_above=(".gemini/.env", ".env"),
    shell_marks=("GEMINI_CLI",),
    other_names=("gemini-cli",),
    models=r"gemini-\d.*",
    # As of 2026-11.
    prices=(
        FamilyPrice("flash-lite", Price(0.1, 0.4, 0.01)),
        FamilyPrice("flash", Price(0.5, 3.0, 0.05)),
    ),
    price=Price(2.0, 12.0, 0.2),
    capabilities=(
        KnownCapability("delegation", ("Task",), frozenset({"edit", "full"})),
        KnownCapability("web_browsing", ("WebFetch", "WebSearch")),
    ),
    client=ConnectedClient(
        name="gemini",
        title="Gemini CLI",
        table="mcpServers",
        user=UserPath((".gemini/settings.json",)),
        project=".gemini/settings.json",
        more={},
        way=("gemini", "mcp", "add", "--scope", "user", "handrail"),
        skills=UserPath((".gemini/skills",)),
        project_skills=".gemini/skills",
    ),
)
