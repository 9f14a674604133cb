"""A scripted HTTP service on loopback that controls every byte, for the tests of this package.

    with Service() as service:
        service.script(reply(503), cut_chunked(), book_reply(trades(10)))
        ...
        assert service.requests[0].raw == b"POST /api/v1/trade/book HTTP/1.1\\r\\n..."

A behaviour is any function of a `Connection`; the ready-made ones below make the faults.
"""

from .connection import *  # noqa: F403
from .network import *  # noqa: F403
from .pages import *  # noqa: F403
from .ports import *  # noqa: F403
from .records import *  # noqa: F403
from .responses import *  # noqa: F403
from .server import *  # noqa: F403
