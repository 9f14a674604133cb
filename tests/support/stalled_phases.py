"""Services that keep a call in one of its phases, until it is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import service as s
from calls import good_book
from service import Authority, Service


@contextmanager
def served_phase(phase: str, ca: Authority) -> Iterator[str]:
    """The URL of something that keeps a call in that phase."""
    stalls = {
        "first byte": s.stall(),
        "handler": s.stall(),
        "body": s.stall_mid_body(),
        "back-off": s.retry_after("20"),
    }
    with ExitStack() as stack:
        if phase == "DNS":
            yield "https://api.example.test"
        elif phase == "connect":
            yield f"http://127.0.0.1:{stack.enter_context(s.black_hole())}"
        elif phase == "TLS":
            service = Service(tls=ca.good(), on_connect=s.stall())
            yield stack.enter_context(service).base_url
        elif phase == "pages":
            service = stack.enter_context(Service())
            service.choose(s.pages(s.stocks(30), faults={2: [s.stall()]}))
            yield service.base_url
        else:
            service = stack.enter_context(Service())
            service.script(then=stalls.get(phase, good_book()))
            yield service.base_url
