"""Guards of the scripted service: without them, other tests could pass for no reason."""

from __future__ import annotations

import pytest

from service import GET, BadRequest, Behaviour, Connection, Service, Unscripted, exchange, reply


@pytest.mark.parametrize(
    ("request_bytes", "behaviours", "kind"),
    [
        (GET, [], Unscripted),
        (b"nonsense\r\n\r\n", [reply()], BadRequest),
        (b"GET / HTTP/1.1\r\n folded\r\n\r\n", [reply()], BadRequest),
        (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", [reply()], BadRequest),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [reply()], BadRequest),
    ],
)
def test_what_no_script_asked_for_is_refused_and_raised_at_the_end(
    request_bytes: bytes, behaviours: list[Behaviour], kind: type[Exception]
) -> None:
    def use() -> None:
        with Service() as service:
            service.script(*behaviours)
            assert exchange(service.port, request_bytes).startswith(b"HTTP/1.1 400 ")

    with pytest.raises(ExceptionGroup) as caught:
        use()
    assert [type(error) for error in caught.value.exceptions] == [kind]


def test_an_error_in_a_behaviour_is_raised_at_the_end() -> None:
    def broken(connection: Connection) -> None:
        raise KeyError(connection.request.method)

    def use() -> None:
        with Service() as service:
            service.script(broken)
            assert exchange(service.port) == b""

    with pytest.raises(ExceptionGroup) as caught:
        use()
    assert isinstance(caught.value.exceptions[0], KeyError)


def test_a_failing_test_shows_its_own_error_first() -> None:
    def use() -> None:
        with Service() as service:
            exchange(service.port)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use()
