"""Counts of a client's calls, connections and bytes."""

from __future__ import annotations

from typing import NamedTuple


class ClientStats(NamedTuple):
    """A client's counts since it was created.

    Attributes:
        calls: Number of finished calls, successful or not.
        failures: Number of calls that ended with an error.
        attempts: Number of requests sent.
        retries: Number of attempts after the first of each call.
        connections: Number of responses received over a new connection.
        reused: Number of responses received over a kept-alive connection.
        bytes_sent: Bytes sent on the wire, including headers.
        bytes_received: Bytes received on the wire, including headers.
    """

    calls: int
    failures: int
    attempts: int
    retries: int
    connections: int
    reused: int
    bytes_sent: int
    bytes_received: int
