"""Steps for the real Claude Code."""

from handrail.testing.models.scripts import Call


def step(script: str, more: str = "", name: str = "one") -> str:
    return f"{{name: {name}, agent: claude, prompt: 'Go. [[s:{script}]]'{', ' if more else ''}{more}}}"


def write(path: str, content: str = "x") -> Call:
    return Call("Write", {"file_path": path, "content": content})
