"""Ports that stay ours while nobody listens on them."""

from __future__ import annotations

import errno
import socket

import pytest

from bayplan.testing.controlplane.ports import LOOPBACK, ReservedPort


def test_nobody_else_can_take_it() -> None:
    with ReservedPort() as port, socket.socket() as taker:
        with pytest.raises(OSError) as caught:
            taker.bind((LOOPBACK, port.number))
        assert caught.value.errno == errno.EADDRINUSE


def test_a_client_is_refused_while_no_server_shares_it() -> None:
    with ReservedPort() as port, socket.socket() as client, pytest.raises(ConnectionRefusedError):
        client.connect((LOOPBACK, port.number))


def test_a_server_that_shares_it_gets_every_connection_and_may_come_and_go() -> None:
    with ReservedPort() as port:
        for _ in range(2):
            with socket.socket() as server:
                server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                server.bind((LOOPBACK, port.number))
                server.listen()
                for _ in range(5):
                    with socket.socket() as client:
                        client.connect((LOOPBACK, port.number))
                        server.settimeout(10)
                        server.accept()[0].close()


def test_closing_gives_it_back() -> None:
    with ReservedPort() as port:
        number = port.number
    with socket.socket() as taker:
        taker.bind((LOOPBACK, number))
