"""Runs a program on a console of its own, for tests on Windows: a line to it is Ctrl-C, or its end.

A console interrupts all of its programs, which would otherwise be the tests and their shell too.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading


def main() -> int:
    if sys.platform != "win32":
        raise OSError("elsewhere, a test sends the signal itself")
    import ctypes

    kernel = ctypes.WinDLL("kernel32")
    kernel.FreeConsole()
    kernel.AllocConsole()
    signal.signal(signal.SIGINT, lambda number, frame: None)
    program = subprocess.Popen(
        sys.argv[1:], stdin=subprocess.DEVNULL, stdout=sys.stdout, stderr=sys.stderr
    )

    def obey() -> None:
        for line in sys.stdin:
            if line == "end\n":
                program.kill()
            else:
                kernel.GenerateConsoleCtrlEvent(signal.CTRL_C_EVENT, 0)

    threading.Thread(target=obey, daemon=True).start()
    while True:
        try:
            return program.wait(0.1)
        except subprocess.TimeoutExpired:  # meanwhile Python runs the handler
            pass


if __name__ == "__main__":
    sys.exit(main())
