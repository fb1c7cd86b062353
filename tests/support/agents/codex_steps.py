"""Steps for the real Codex."""


def step(script: str, more: str = "", name: str = "one") -> str:
    return f"{{name: {name}, agent: codex, prompt: 'Go. [[s:{script}]]'{', ' if more else ''}{more}}}"
