"""How to tell whether an agent is logged in, without a token spent: its variables, its files, or its own word."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Login:
    """Where an agent's login shows."""

    variables: tuple[str, ...] = ()
    """Any of these being set is a login."""
    files: tuple[str, ...] = ()
    """Any of these being there is one, as paths from the user's home."""
    asks: tuple[str, ...] = ()
    """What the program is asked otherwise: it ends with 0 when it is logged in, with 1 when it is not."""
    way: str = ""
    """How a person logs in."""


_CLOUDS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX")
LOGINS: dict[str, Login] = {
    "claude": Login(
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", *_CLOUDS),
        asks=("auth", "status"),
        way="claude auth login",
    ),
    "codex": Login(("CODEX_API_KEY",), asks=("login", "status"), way="codex login"),
    "gemini": Login(
        ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"),
        (".gemini/oauth_creds.json", ".gemini/gemini-credentials.json"),
        way="gemini",
    ),
    "opencode": Login(
        ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
        (".local/share/opencode/auth.json",),
        way="opencode auth login",
    ),
}
"""By the name of the agent; of an agent without a row nothing is known."""
