"""Which part of this machine answers where the lines of a file come from."""

import os

from handrail.ports.line_history import LineHistory
from handrail.sources.folders import user_folders
from handrail.workspace.git_line_history import GitLineHistory
from handrail.workspace.git_repositories import GitRepositories


def make_line_history() -> LineHistory:
    """Build what asks git, through views in the data folder."""
    return GitLineHistory(GitRepositories(user_folders(os.environ).data).open_git)
