"""The provider's configuration, checked when an agent is built."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Config:
    """The ``config`` of the provider in an agent's YAML."""

    url: str
    """The server's address with ``/xaibo``, without a trailing slash."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of every request."""
    timeout: float = 30.0
    """The time limit of a request, in seconds."""
    context: dict[str, Any] | None = field(default=None, repr=False)
    """``user_id``, ``authorization`` and ``secrets`` for tools that require them."""

    @classmethod
    def read(cls, config: Mapping[str, Any] | None) -> "Config":
        """Checks the configuration. Raises ValueError, which says what was expected and contains no value."""
        config = config or {}
        known = [one.name for one in fields(cls)]
        for name in config:
            if name not in known:
                raise ValueError(f"config has no {name!r}; it has {', '.join(known)}")
        url = config.get("url")
        if not (isinstance(url, str) and _is_address(url)):
            raise ValueError("config.url must be the server's address with /xaibo, such as https://tools.example/xaibo")
        headers = config.get("headers") or {}
        texts = isinstance(headers, Mapping) and all(
            isinstance(text, str) for pair in headers.items() for text in pair
        )
        if not texts:
            raise ValueError("config.headers must be a mapping of names to strings")
        timeout = config.get("timeout", cls.timeout)
        is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
        if not (is_number and 0 < timeout < math.inf):
            raise ValueError("config.timeout must be a number of seconds greater than 0")
        context = config.get("context")
        if context is not None and not (isinstance(context, dict) and _is_json(context)):
            raise ValueError("config.context must be an object with user_id, authorization and secrets")
        return cls(url.rstrip("/"), dict(headers), float(timeout), context)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query and not parts.fragment


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
