"""What is known of opencode."""

from handrail.model.workflow.agent_names import KnownCapability
from handrail.ports.agent_profiles import AgentProfile, ConfigFolders, ConnectedClient, Login, UserPath

XDG_VARIABLES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
"""Variables that name its folders."""

_KINDS = ("plugin", "tool", "command", "agent", "mode", "skill", "theme", "workflow")

PROFILE = AgentProfile(
    name="opencode",
    adapter="handrail.agents.opencode.adapter:OpencodeAgent",
    program="opencode",
    install="npm install -g opencode-ai, then log in with: opencode auth login",
    default="opencode",
    variables=(
        *("OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*", "GROQ_*", "MISTRAL_*"),
        *XDG_VARIABLES,
    ),
    login=Login(
        way="opencode auth login",
        variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
        files=(".local/share/opencode/auth.json",),
    ),
    config=ConfigFolders((".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode")),
    # opencode itself writes .gitignore, package.json and node_modules into .opencode.
    project_files=(
        *("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"),
        *(".opencode/tui.json", ".opencode/tui.jsonc"),
        *(f".opencode/{kind}{plural}/**/*" for kind in _KINDS for plural in ("", "s")),
    ),
    shell_marks=("OPENCODE", "OPENCODE_PID"),
    capabilities=(
        KnownCapability("delegation", ("Task",), frozenset({"edit", "full"})),
        KnownCapability("web_browsing", ("WebFetch", "WebSearch")),
    ),
    client=ConnectedClient(
        name="opencode",
        title="opencode",
        table="mcp",
        user=UserPath(
            (".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"),
            "XDG_CONFIG_HOME",
            ("opencode/opencode.json", "opencode/opencode.jsonc"),
        ),
        project="opencode.json",
        command_in_one=True,
        environment="environment",
        more={"type": "local", "enabled": True},
        skills=UserPath((".config/opencode/skills",), "XDG_CONFIG_HOME", ("opencode/skills",)),
        project_skills=".opencode/skills",
    ),
)
