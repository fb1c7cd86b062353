"""What is known of an agent that comes with Handrail, beside how it is called and what its lines mean.

Each agent's folder has one such record, and everything that speaks of agents is made from these records: what is
looked for on a machine, how a person installs an agent and logs in, what a sandbox lets it write.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.history.prices import FamilyPrice, Price
from handrail.model.workflow.agent_names import Known
from handrail.model.workflow.values import JsonValue

ConfigForm: TypeAlias = Literal["json", "toml"]


@frozen
class AccountFile:
    """Where an agent keeps the name of the account that it is logged in to, beside what it logs in with."""

    variable: str
    """Names the folder, where it is set."""
    folder: str
    """The folder otherwise, as a path from the user's home."""
    file: str
    keys: tuple[str, ...]
    """What leads to the name."""


@frozen(kw_only=True)
class Login:
    """Where an agent's login shows."""

    way: str
    """How a person logs in."""
    variables: tuple[str, ...] = ()
    """Any of these being set is a login."""
    files: tuple[str, ...] = ()
    """Any of these being there is one, as paths from the user's home."""
    asks: tuple[str, ...] = ()
    """What the program is asked otherwise: it ends with 0 when it is logged in, with 1 when it is not."""
    account: AccountFile | None = None
    elsewhere: AccountFile | None = None
    """The setting that makes it work with another service, whose login nobody but that service knows of."""


@frozen
class ConfigFolders:
    """Where an agent keeps its own data (login, conversations, caches): in a sandbox it may write there."""

    paths: tuple[str, ...]
    """Folders and files, seen from the user's home."""
    variable: str = ""
    """The variable that names one folder in their place."""


@frozen
class ProjectFiles:
    """The files by which a repository configures an agent or makes it run something.

    Each is a path or, as `FOLDER/**` or `FOLDER/**/*`, everything below a folder.
    """

    names: tuple[str, ...] = ()
    """Looked for in the working folder and in each folder above it, up to the root of the repository."""
    above: tuple[str, ...] = ()
    """Looked for in all folders above the repository as well."""
    checkout: bool = False
    """Whether those of the main checkout count where the working folder belongs to a linked worktree."""


@frozen
class UserPath:
    """Where something lies: the first path that exists, else the first whose folder does, else the first."""

    at: tuple[str, ...]
    """Seen from the user's home."""
    variable: str = ""
    """The variable that names another folder, where it is set."""
    below: tuple[str, ...] = ()
    """The same, seen from that folder."""


@frozen(kw_only=True)
class ConnectedClient:
    """A program that can be connected to Handrail over MCP: where it keeps servers and skills."""

    name: str
    title: str
    """What people call it."""
    form: ConfigForm = "json"
    table: str
    """The key under which its configuration lists servers."""
    user: UserPath
    project: str = ""
    """The same file of a repository; empty where it reads none."""
    command_in_one: bool = False
    """Whether the words of a command are one list; else the program and its arguments stand apart."""
    environment: str = "env"
    """The key of the variables that a server gets."""
    more: Mapping[str, JsonValue]
    """What an entry needs beside its command."""
    way: tuple[str, ...] = ()
    """What of the program's own command line adds a server for the user; a command follows."""
    skills: UserPath | None = None
    """The folder in which it looks for skills of the user."""
    project_skills: str = ""


@frozen(kw_only=True)
class AgentProfile:
    """One agent that comes with Handrail."""

    name: str
    """Its name in workflows."""
    adapter: str
    """Its `Agent` as `package.module:Class`, which takes the `program`; it is loaded when a step asks for it."""
    program: str
    """What it is on the command line."""
    install: str
    """How a person installs it and logs in."""
    default: str
    """What a new configuration says to use it: its name, with a model where its own settings do not decide on one."""
    variables: tuple[str, ...]
    """Names or globs of its vendor's environment variables."""
    login: Login
    config: ConfigFolders
    shell_marks: tuple[str, ...] = ()
    """Variables that it sets for the commands which it runs: who calls us with one of them is this agent."""
    other_names: tuple[str, ...] = ()
    """What else people call it where they name an agent."""
    labels: tuple[str, ...] = ()
    """Labels of an issue that mean it, beside its own name."""
    models: str = ""
    """A regular expression for the names of the models that only it has."""
    prices: tuple[FamilyPrice, ...] = ()
    """List prices of its vendor's models, the most special first."""
    price: Price | None = None
    """That of its dearest model, for a model that is not in the list."""
    project_files: tuple[str, ...] = ()
    """Globs, seen from a repository's root, of the files by which a repository makes the agent run something."""
    files_above: tuple[str, ...] = ()
    """Those of them that the agent also looks for in the folders above a repository."""
    capabilities: tuple[Known, ...] = ()
    """What is known that it can do, at which access; what is not listed is found out by asking it."""
    client: ConnectedClient | None = None
    """How it is connected to Handrail where a person talks to it."""
    reads_checkout: bool = False
    """Whether the agent takes such files from the main checkout, too, when it works in a linked worktree."""
    switched: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Variables of other vendors, which it gets where a variable tells it to work through them."""

    @property
    def files(self) -> ProjectFiles:
        """What of a repository configures the agent."""
        return ProjectFiles(self.project_files, self.files_above, self.reads_checkout)

    def variables_in(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Name the variables that the agent gets of an environment: its vendor's, and those of where it works."""
        on = (names for switch, names in self.switched if environ.get(switch, "") not in ("", "0", "false"))
        return (*self.variables, *(name for names in on for name in names))
