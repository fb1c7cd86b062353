"""What is known of OpenAI's Codex."""

from handrail.model.history.prices import FamilyPrice, Price
from handrail.ports.agent_profiles import AccountFile, AgentProfile, ConfigFolders, ConnectedClient, Login, UserPath

PROFILE = AgentProfile(
    name="codex",
    adapter="handrail.agents.codex.adapter:CodexAgent",
    program="codex",
    install="npm install -g @openai/codex, then log in with: codex login",
    default="codex",
    variables=("CODEX_*", "OPENAI_*"),
    login=Login(
        way="codex login",
        variables=("CODEX_API_KEY",),
        asks=("login", "status"),
        account=AccountFile("CODEX_HOME", ".codex", "auth.json", ("tokens", "account_id")),
        elsewhere=AccountFile("CODEX_HOME", ".codex", "config.toml", ("model_provider",)),
    ),
    config=ConfigFolders((".codex",), variable="CODEX_HOME"),
    project_files=(".codex/**/*",),
    shell_marks=("CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"),
    other_names=("openai",),
    labels=("openai",),
    models=r"gpt-.+|o\d(-.+)?|codex-.+",
    # As of 2026-11.
    prices=(
        FamilyPrice("mini", Price(0.75, 4.5, 0.075), unless="gemini"),
        FamilyPrice("codex-max", Price(1.25, 10.0, 0.125)),
        FamilyPrice("gpt-5.5", Price(5.0, 30.0, 0.5)),
        FamilyPrice("gpt-5.4", Price(2.5, 15.0, 0.25)),
        FamilyPrice("gpt-", Price(1.75, 14.0, 0.175)),
    ),
    price=Price(5.0, 30.0, 0.5),
    client=ConnectedClient(
        name="codex",
        title="Codex",
        form="toml",
        table="mcp_servers",
        user=UserPath((".codex/config.toml",), "CODEX_HOME", ("config.toml",)),
        project=".codex/config.toml",
        # A server that is not required may start after the model has begun.
        more={"required": True, "startup_timeout_sec": 30},
        way=("codex", "mcp", "add", "handrail", "--"),
        skills=UserPath((".codex/skills",), "CODEX_HOME", ("skills",)),
        project_skills=".agents/skills",
    ),
)
