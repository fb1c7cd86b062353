"""What is known of OpenAI's Codex."""

from handrail.ports.agent_profiles import AccountFile, AgentProfile, ConfigFolders, Login

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
    ),
    config=ConfigFolders((".codex",), variable="CODEX_HOME"),
    other_names=("openai",),
    labels=("openai",),
    models=r"gpt-.+|o\d(-.+)?|codex-.+",
)
