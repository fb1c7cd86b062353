"""How a call of an agent can end."""

from typing import Literal, TypeAlias

CallStatus: TypeAlias = Literal[
    "ok",
    "limit",
    "quota",
    "auth",
    "rate_limited",
    "overloaded",
    "network",
    "api_error",
    "no_output",
    "denied",
    "cancelled",
    "timeout",
    "crashed",
]
"""How a call of an agent ended. What may pass by waiting: quota, rate_limited, overloaded, network."""
