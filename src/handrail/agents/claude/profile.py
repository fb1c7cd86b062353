"""What is known of Claude Code."""

from handrail.model.history.prices import FamilyPrice, Price
from handrail.model.workflow.agent_names import KnownCapability
from handrail.ports.agent_profiles import AccountFile, AgentProfile, ConfigFolders, ConnectedClient, Login, UserPath

_CLOUDS = (
    ("CLAUDE_CODE_USE_BEDROCK", ("AWS_*",)),
    ("CLAUDE_CODE_USE_VERTEX", ("GOOGLE_*", "CLOUD_ML_*", "VERTEX_*", "GCLOUD_*")),
)

PROFILE = AgentProfile(
    name="claude",
    adapter="handrail.agents.claude.adapter:ClaudeAgent",
    program="claude",
    install="npm install -g @anthropic-ai/claude-code, then log in with: claude",
    default="claude",
    # Not `CLAUDE_*`: a session of Claude Code in which Handrail itself was started leaves its marks there.
    variables=(
        *("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "MAX_THINKING_TOKENS", "MAX_MCP_OUTPUT_TOKENS", "API_TIMEOUT_MS"),
        *("MCP_TIMEOUT", "MCP_TOOL_TIMEOUT", "ENABLE_TOOL_SEARCH", "BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS"),
        *("CLAUDE_CODE_OAUTH_*", "CLAUDE_CODE_API_*", "CLAUDE_CODE_CLIENT_*", "CLAUDE_CODE_USE_*"),
        *("CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_MAX_*", "CLAUDE_CODE_DISABLE_*", "CLAUDE_CODE_ENABLE_*"),
        *("CLAUDE_CODE_EFFORT_LEVEL", "CLAUDE_CODE_SUBAGENT_MODEL", "CLAUDE_CODE_SHELL"),
        *("CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_CODE_TMPDIR"),
    ),
    login=Login(
        way="claude auth login",
        variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", *dict(_CLOUDS)),
        asks=("auth", "status"),
        account=AccountFile("CLAUDE_CONFIG_DIR", "", ".claude.json", ("oauthAccount", "accountUuid")),
    ),
    config=ConfigFolders(
        (".claude", ".claude.json", ".cache/claude-cli-nodejs", ".local/state/claude"), variable="CLAUDE_CONFIG_DIR"
    ),
    # Everything else it reads below .claude is text (CLAUDE.md, rules) or its own notes.
    project_files=(
        *(".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/launch.json"),
        *(".claude/scheduled_tasks.json", ".claude/loop.md", ".claude/hooks/**/*", ".claude/commands/**/*"),
        *(".claude/agents/**/*", ".claude/skills/**/*", ".claude/plugins/**/*", ".claude/output-styles/**/*"),
        *(".claude/workflows/**/*", ".claude/routines/**/*"),
    ),
    files_above=(".mcp.json",),
    reads_checkout=True,
    switched=_CLOUDS,
    shell_marks=("CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION"),
    other_names=("claude-code",),
    models=r"(opus|sonnet|haiku)\b.*|claude-.+",
    # As of 2026-11.
    prices=(
        FamilyPrice("haiku", Price(1.0, 5.0, 0.1)),
        FamilyPrice("sonnet", Price(3.0, 15.0, 0.3)),
        FamilyPrice("opus", Price(5.0, 25.0, 0.5)),
    ),
    price=Price(5.0, 25.0, 0.5),
    capabilities=(
        KnownCapability("delegation", ("Task", "Agent")),
        KnownCapability("web_browsing", ("WebFetch", "WebSearch")),
    ),
    client=ConnectedClient(
        name="claude",
        title="Claude Code",
        table="mcpServers",
        user=UserPath((".claude.json",), "CLAUDE_CONFIG_DIR", (".claude.json",)),
        project=".mcp.json",
        more={"type": "stdio"},
        way=("claude", "mcp", "add", "--scope", "user", "handrail", "--"),
        skills=UserPath((".claude/skills",), "CLAUDE_CONFIG_DIR", ("skills",)),
        project_skills=".claude/skills",
    ),
)
