"""A git folder in which every setting that can start a program starts one, each of which leaves a trace of its name."""

from pathlib import Path

HOOKS = (
    *("applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg"),
    *("commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update"),
    *("proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc"),
    *("post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change"),
)
COMMANDS = (
    *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy"),
    *("core.alternateRefsCommand", "sequence.editor", "pager.status", "pager.diff", "pager.log", "pager.config"),
    *("diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "mergetool.evil.cmd"),
    *("difftool.evil.cmd", "gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.x509.program"),
    *("gpg.ssh.defaultKeyCommand", "credential.helper", "remote.origin.uploadpack", "remote.origin.receivepack"),
    *("uploadpack.packObjectsHook", "interactive.diffFilter", "trailer.evil.command", "trailer.evil.cmd"),
    *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "browser.evil.cmd", "man.evil.cmd"),
    *("sendemail.sendmailCmd", "imap.tunnel", "tar.evil.command", "guitool.evil.cmd", "lfs.customtransfer.evil.path"),
    *("lfs.extension.evil.clean", "lfs.extension.evil.smudge", "web.browser", "instaweb.httpd"),
    *("submodule.evil.update", "core.hooksPath"),
)
"""Settings whose value is a command or a program."""
SWITCHES = {
    "commit.gpgSign": "true",
    "log.showSignature": "true",
    "diff.submodule": "log",
    "status.submoduleSummary": "true",
    "submodule.recurse": "true",
    "diff.tool": "evil",
    "merge.tool": "evil",
    "merge.default": "evil",
    "lfs.standalonetransferagent": "evil",
    "lfs.extension.evil.priority": "0",
    "gc.auto": "1",
    "protocol.ext.allow": "always",
    "core.untrackedCache": "true",
    "core.splitIndex": "true",
    "core.ignoreStat": "true",
}
DRIVERS = "* diff=evil merge=evil\n"
FILTERED = "* filter=evil diff=evil merge=evil\n"
"""Attributes by which files of all names are converted: what is changed then cannot be committed."""


def make_hostile(git_folder: Path, loot: Path, *, promisor: bool = False, attributes: str = DRIVERS) -> None:
    """Configure everything in a git folder, directly and by includes, and fill its folder of hooks."""
    program = _program(git_folder, loot)
    lines = [_entry(key, f"{program} {key}") for key in COMMANDS if key != "core.hooksPath"]
    lines += [_entry(key, value) for key, value in SWITCHES.items()]
    lines.append(_entry("core.hooksPath", str(git_folder / "evil-hooks")))
    lines += [f'[alias]\n\t{name} = "!{program} alias.{name}"\n' for name in ("status", "diff", "st")]
    lines.append(_entry("remote.origin.url", f"ext::{program} remote.origin.url"))
    lines.append(f'[url "ext::{program} insteadOf "]\n\tinsteadOf = "https://"\n')
    if promisor:
        lines += ['[remote "origin"]\n\tpromisor = true\n', '[extensions]\n\tpartialClone = "origin"\n']
    extra = git_folder / "evil-include"
    extra.write_text(_entry("core.fsmonitor", f"{program} include") + _entry("filter.evil.clean", f"{program} include"))
    lines.append(f'[include]\n\tpath = "{extra}"\n')
    lines.append(f'[includeIf "gitdir:/**"]\n\tpath = "{extra}"\n')
    with (git_folder / "config").open("a") as file:
        file.write("".join(lines))
    (git_folder / "info").mkdir(exist_ok=True)
    (git_folder / "info/attributes").write_text(attributes)
    for folder in (git_folder / "hooks", git_folder / "evil-hooks"):
        folder.mkdir(exist_ok=True)
        for name in HOOKS:
            (folder / name).write_text(f"#!/bin/sh\n{program} hook.{name}\n")
            (folder / name).chmod(0o755)


def _program(git_folder: Path, loot: Path) -> Path:
    path = git_folder / "evil-program"
    # It passes on what it is given, so that a filter that runs goes unnoticed.
    path.write_text(f'#!/bin/sh\ntouch "{loot}/$1"\ncat 2>/dev/null\nexit 0\n')
    path.chmod(0o755)
    return path


def _entry(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    sub, dot, name = rest.rpartition(".")
    head = f'[{section} "{sub}"]' if dot else f"[{section}]"
    return f'{head}\n\t{name} = "{value}"\n'


def add_nested(folder: Path, loot: Path) -> str:
    """Give shell commands that make a nested hostile repository with work in it, known to the one around it."""
    here = f'"{folder.name}"'
    script = (
        f"mkdir {here}; cd {here}; git init -q; echo one > f; git add f;"
        " git -c user.name=x -c user.email=x@y commit -qm f;"
        " echo '* filter=evil' > .gitattributes;"
    )
    keys = ("filter.evil.clean", "filter.evil.smudge", "core.fsmonitor")
    script += "".join(f" git config {key} 'touch {loot}/nested-{key}; cat';" for key in keys)
    return f"{script} touch -d '2020-01-01' f; echo two > f; cd ..; git add {here}"


def traces(loot: Path) -> list[str]:
    """Name what was started."""
    return sorted(path.name for path in loot.iterdir())
