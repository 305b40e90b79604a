"""A way to a server on which replies are lost."""

import re
import socket
import threading
from contextlib import suppress

TAKES = re.compile(rb"\*\d+\r\n\$\d+\r\nSLIDEWIN\.(CHECK|MCHECK|RESERVE|REFUND)\r\n")
ECHO = b"*2\r\n$4\r\nECHO\r\n$4\r\nlost\r\n"


class Lossy:
    """A port that leads to the server's. A call that takes or gives back units is carried out, and then the connection
    ends without a reply. `losses` is how many more replies are lost.
    """

    def __init__(self, port, losses=1000):
        self.losses = losses
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._target)
            losing = threading.Event()
            threading.Thread(target=self._requests, args=(near, far, losing), daemon=True).start()
            threading.Thread(target=self._replies, args=(near, far, losing), daemon=True).start()

    def _requests(self, near, far, losing):
        with near, far, suppress(OSError):  # the other direction may have ended it
            while request := near.recv(65536):
                if self.losses and TAKES.search(request):
                    self.losses -= 1
                    losing.set()
                    request += ECHO
                far.sendall(request)

    @staticmethod
    def _replies(near, far, losing):
        swallowed = b""
        with suppress(OSError):
            while reply := far.recv(65536):
                if not losing.is_set():
                    near.sendall(reply)
                    continue
                swallowed += reply
                if b"lost" in swallowed:  # the server has come to what was sent behind the call
                    near.shutdown(socket.SHUT_RDWR)
                    return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()
