"""Keeps secrets out of what a run is pinned to: its workflow, its inputs, its script.

A run records all of that, and after a crash it must be found unchanged. So a secret is refused where a person can put
it elsewhere, and masked where it is there by accident.
"""

import json

import rfc8785

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.codec import encode
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.runtime.event_records import redact_value

_INSTEAD = "keep it in the variable only; commands and agents see it once pass_env in .handrail/config.toml names it"


@frozen
class SecretChecker:
    """Looks for secrets in what a person passes to a run."""

    redactor: Redactor

    def require_none_in(self, plan: Plan, written: bytes = b"") -> None:
        """Refuse a workflow that holds a secret: all of it is stored with the run, as it is `written`."""
        found = self.redactor.find(written or rfc8785.dumps(encode(plan)))
        if found:
            kinds = ", ".join(dict.fromkeys(each.kind for each in found))
            message = (
                f"the workflow '{plan.name}' contains a secret ({kinds}), and a run stores its workflow permanently"
            )
            raise UsageError(message, next_step="remove it from the workflow and its prompts, and revoke it")

    def inputs(self, given: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the inputs with secrets masked; the value of a secret variable is refused."""
        for name, value in given.items():
            self._require_no_variable(f"the input '{name}'", value)
        return {name: redact_value(value, self.redactor) for name, value in given.items()}

    def task(self, given: str) -> str:
        """Return the task with secrets masked; the value of a secret variable is refused."""
        self._require_no_variable("the task", given)
        return self.redactor.text(given)

    def script(self, given: bytes) -> bytes:
        """Return a script with secrets masked."""
        return self.redactor.data(given)

    def _require_no_variable(self, what: str, value: JsonValue) -> None:
        named = self.redactor.find_variable_names(
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        )
        if named:
            message = (
                f"{what} contains the value of {named[0]}, which is a secret, and a run stores its inputs permanently"
            )
            raise UsageError(message, next_step=_INSTEAD)
