"""The service's JSON: compact bytes, and the envelope of the two books."""

from __future__ import annotations

import json


def as_json(value: object, *, ascii_only: bool = False) -> bytes:
    r"""Return compact JSON in UTF-8; `ascii_only` writes the rest as \u escapes."""
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    return text.encode("utf-8")


def envelope(
    data: object, status: object = "success", message: object = "Success"
) -> dict[str, object]:
    """Return the common response envelope, its members in the order of the service document."""
    return {"data": data, "message": message, "status": status}
