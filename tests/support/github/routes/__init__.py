"""What the double does for each call of the REST API."""

from support.github.calls import Routes
from support.github.routes import account, checks, code, comments, issues, labels, pulls, relations, reviews

ROUTES: Routes = {
    **account.ROUTES, **checks.ROUTES, **code.ROUTES, **comments.ROUTES, **issues.ROUTES, **labels.ROUTES,
    **pulls.ROUTES, **relations.ROUTES, **reviews.ROUTES,
}  # fmt: skip
"""By the template of the description."""
