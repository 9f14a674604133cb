"""Calls to the Windows API: access control lists of files. For `platform` only."""

from __future__ import annotations

import ctypes
import functools
import msvcrt
import sys
from contextlib import contextmanager
from ctypes import wintypes
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

assert sys.platform == "win32"  # type checkers skip the rest elsewhere

_advapi = ctypes.WinDLL("advapi32", use_last_error=True)
_kernel = ctypes.WinDLL("kernel32", use_last_error=True)

_OWNER_AND_DACL = 1 | 4
_FILE_OBJECT = 1
_TOKEN_QUERY = 8
_TOKEN_USER = 1
_REVISION = 1
_WRITE = 0x40000000
_CREATE_NEW = 1
_INVALID = wintypes.HANDLE(-1).value

_create_file = _kernel.CreateFileW
_create_file.restype = wintypes.HANDLE


class _SecurityAttributes(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("descriptor", wintypes.LPVOID),
        ("inherited", wintypes.BOOL),
    )


def create_private(path: str) -> None:
    """Creates an empty file for the user, the system and administrators, and for nobody else.

    The file has its access control list from the start: what another user opens in between stays
    open, whatever the list becomes.
    """
    if "\0" in path:
        raise ValueError("a path cannot contain a null character")
    with _descriptor(f"(A;;FA;;;{user_sid()})(A;;FA;;;SY)(A;;FA;;;BA)") as descriptor:
        security = _SecurityAttributes(ctypes.sizeof(_SecurityAttributes), descriptor, False)
        handle = wintypes.HANDLE(
            _create_file(path, _WRITE, 0, ctypes.byref(security), _CREATE_NEW, 0, None)
        )
        code = ctypes.get_last_error()
    if handle.value == _INVALID:
        raise OSError(None, ctypes.FormatError(code).rstrip("\r\n ."), path, code)
    _kernel.CloseHandle(handle)


def access_of(file: int) -> str:
    """Returns the owner and the access control list of an open file in their textual form."""
    descriptor = ctypes.c_void_p()
    handle = wintypes.HANDLE(msvcrt.get_osfhandle(file))
    error = _advapi.GetSecurityInfo(
        handle, _FILE_OBJECT, _OWNER_AND_DACL, None, None, None, None, ctypes.byref(descriptor)
    )
    if error:
        raise ctypes.WinError(error)
    try:
        text = wintypes.LPWSTR()
        _check(
            _advapi.ConvertSecurityDescriptorToStringSecurityDescriptorW(
                descriptor, _REVISION, _OWNER_AND_DACL, ctypes.byref(text), None
            )
        )
        return _taken(text)
    finally:
        _kernel.LocalFree(descriptor)


@functools.cache
def user_sid() -> str:
    """Returns the security identifier of the process's user."""
    token = wintypes.HANDLE()
    process = wintypes.HANDLE(-1)  # what GetCurrentProcess returns
    _check(_advapi.OpenProcessToken(process, _TOKEN_QUERY, ctypes.byref(token)))
    try:
        buffer = ctypes.create_string_buffer(256)
        size = wintypes.DWORD()
        _check(
            _advapi.GetTokenInformation(token, _TOKEN_USER, buffer, len(buffer), ctypes.byref(size))
        )
    finally:
        _kernel.CloseHandle(token)
    text = wintypes.LPWSTR()
    sid = ctypes.c_void_p.from_buffer(buffer)  # the first member of TOKEN_USER
    _check(_advapi.ConvertSidToStringSidW(sid, ctypes.byref(text)))
    return _taken(text)


@contextmanager
def _descriptor(entries: str) -> Iterator[ctypes.c_void_p]:
    """Yields a security descriptor with the entries of an access control list, and no others."""
    descriptor = ctypes.c_void_p()
    _check(
        _advapi.ConvertStringSecurityDescriptorToSecurityDescriptorW(
            f"D:P{entries}", _REVISION, ctypes.byref(descriptor), None
        )
    )
    try:
        yield descriptor
    finally:
        _kernel.LocalFree(descriptor)


def _taken(text: Any) -> str:
    """Returns a string that the system allocated, which it frees."""
    value = str(text.value)
    _kernel.LocalFree(text)
    return value


def _check(succeeded: int) -> None:
    if not succeeded:
        raise ctypes.WinError(ctypes.get_last_error())
