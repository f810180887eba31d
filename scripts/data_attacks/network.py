"""Servers that fail in every way, two downloads at once, and disks without room."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import http.server
import random
import resource
import shutil
import signal
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
import torch

from t3cen.data.download import Remote, extract, fetch, gunzip, whole_folder
from t3cen.data.errors import DataError
from t3cen.data.shapes3d_files import unpacked

CONTENT = random.Random(0).randbytes(300_000)
PAGE = b"<html>down for maintenance</html>"
FAULTS = (
    "cut length",
    "cut chunks",
    "no length, cut",
    "404",
    "500",
    "204",
    "bad status line",
    "bad length",
    "longer length",
    "error page",
    "error page, plain",
    "wrong bytes",
    "shorter",
    "longer",
    "wrong range",
    "closed at once",
    "stalled",
    "redirect loop",
)
TIMEOUT = 0.3


class Server(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT, with ranges at /right, without at /plain, in chunks at /chunks; other paths fail as they are called."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.close_connection = True
        path = self.path.strip("/").replace("%20", " ")
        asked = self.headers.get("Range")
        start = int(asked.split("=")[1].rstrip("-")) if asked and path not in ("plain", "error page", "error page, plain") else 0
        rest = CONTENT[start:]
        if path == "closed at once":
            return
        if path == "bad status line":
            self.wfile.write(b"what?\r\n\r\n")
        elif path == "stalled":
            self.answer(206 if start else 200, rest[: len(rest) // 2], {"Content-Length": len(rest)})
            threading.Event().wait(TIMEOUT * 2)
        elif path in ("404", "500"):
            self.answer(int(path), PAGE, {"Content-Length": len(PAGE)})
        elif path == "204":
            self.answer(204, b"", {})
        elif path == "redirect loop":
            self.answer(302, b"", {"Location": self.path, "Content-Length": 0})
        elif start >= len(CONTENT):
            self.answer(416, b"", {"Content-Length": 0})
        elif path in ("cut chunks", "chunks"):
            whole = path == "chunks"
            sent = rest if whole else rest[: len(rest) // 2]
            chunks = [sent[i : i + 5000] for i in range(0, len(sent), 5000)]
            body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + (
                b"0\r\n\r\n" if whole else b"1388\r\ncut"
            )
            self.answer(206 if start else 200, body, {"Transfer-Encoding": "chunked"})
        else:
            body = {
                "cut length": rest[: len(rest) // 3],
                "no length, cut": rest[: len(rest) // 3],
                "error page": PAGE,
                "error page, plain": PAGE,
                "wrong bytes": bytes(len(rest)),
                "shorter": rest[:-7],
                "longer": rest + b"more",
                "wrong range": CONTENT[start // 2 :],
            }.get(path, rest)
            length: object = {"cut length": len(rest), "bad length": "many", "longer length": len(rest) + 99}.get(path, len(body))
            headers = {} if path == "no length, cut" else {"Content-Length": length}
            if path == "error page":
                headers["Content-Type"] = "text/html"
            if start:
                first = start // 2 if path == "wrong range" else start
                headers["Content-Range"] = f"bytes {first}-{len(CONTENT) - 1}/{len(CONTENT)}"
            self.answer(206 if start else 200, body, headers)

    def answer(self, status: int, body: bytes, headers: dict[str, object]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """A running server; its address."""
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    running.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that hang up are part of the attack
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_address[1]}"
    finally:
        running.shutdown()
        running.server_close()
        thread.join()


def _remote(address: str, paths: list[str], rng: random.Random) -> Remote:
    known = rng.choice(({"size": len(CONTENT)}, {}))
    urls = tuple(f"{address}/{path.replace(' ', '%20')}" for path in paths)
    return Remote(urls, md5=hashlib.md5(CONTENT).hexdigest(), **known)


def downloads(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Right is the whole file; where all mirrors fail: no file, what had come kept, and a later good mirror completes it."""
    with serving() as address:
        for case in range(cases):
            rng = random.Random(case)
            paths = [rng.choice(FAULTS) for _ in range(3)]
            if rng.random() < 0.5:
                paths[rng.randrange(3)] = rng.choice(("right", "plain", "chunks"))
            came = rng.choice((b"", CONTENT[: rng.randrange(1, len(CONTENT))], CONTENT, CONTENT + b"x", bytes(5000)))
            target = folder / f"download{case}"
            if came:
                target.with_name(f"{target.name}.part").write_bytes(came)

            def act(paths: list[str] = paths, came: bytes = came, target: Path = target, rng: random.Random = rng) -> bool:
                remote = _remote(address, paths, rng)
                try:
                    fetch(remote, target, TIMEOUT)
                except DataError:
                    if target.exists() or {"right", "plain", "chunks"} & set(paths):
                        return False
                    part = target.with_name(f"{target.name}.part")
                    kept = part.read_bytes() if part.exists() else b""
                    shorter = "shorter" in paths and remote.size is None  # a whole file, as far as can be told, and a wrong one
                    wrong = {"wrong bytes", "longer"} & set(paths) or shorter
                    if CONTENT.startswith(came) and not wrong and not kept.startswith(came):
                        return False  # it lost what had come
                    fetch(_remote(address, ["right"], rng), target, TIMEOUT)
                    if target.read_bytes() == CONTENT:
                        raise
                left = [path.name for path in folder.glob(f"{target.name}.*")]
                return target.read_bytes() == CONTENT and not left

            yield f"{', '.join(paths)}; {len(came)} bytes had come", act
            target.unlink(missing_ok=True)


def together(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    with serving() as address:
        for case in range(cases):
            rng = random.Random(case)
            target = folder / f"together{case}"
            paths = [rng.choice(("cut length", "cut chunks", "right", "chunks")), rng.choice(("right", "plain", "chunks"))]

            def act(target: Path = target, paths: list[str] = paths, rng: random.Random = rng) -> bool:
                remote, found = _remote(address, paths, rng), []
                threads = [threading.Thread(target=lambda: found.append(fetch(remote, target).read_bytes())) for _ in range(3)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                return found == [CONTENT] * 3 and [path.name for path in folder.glob(f"{target.name}*")] == [target.name]

            yield ", ".join(paths), act


@contextlib.contextmanager
def _room(size: int) -> Iterator[None]:
    """No file may grow beyond `size` bytes, as if the disk were full."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def disk(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Right is an error about the disk that gives no advice to delete anything, with the source untouched and no leftovers."""
    (folder / "inner").mkdir()
    (folder / "inner" / "a.bin").write_bytes(CONTENT)
    with tarfile.open(folder / "a.tar.gz", "w:gz") as packed:
        packed.add(folder / "inner", "inner")
    (folder / "a.gz").write_bytes(gzip.compress(CONTENT))
    with h5py.File(folder / "3dshapes.h5", "w") as file:
        file["images"] = np.zeros((480, 64, 64, 3), np.uint8)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with serving() as address:
        remote = Remote((f"{address}/right",), len(CONTENT), hashlib.md5(CONTENT).hexdigest())
        jobs: dict[str, Callable[[Path], object]] = {
            "download": lambda out: fetch(remote, out / "got", 5),
            "gunzip": lambda out: gunzip(folder / "a.gz", out / "got"),
            "tar": lambda out: whole_folder(out / "got", lambda inner: extract(folder / "a.tar.gz", inner)),
            "block": lambda _: unpacked(folder / "3dshapes.h5", "0" * 64, "A", torch.arange(480)),
        }
        for case, job in zip(range(cases), [*jobs] * cases, strict=False):
            rng = random.Random(case)

            def act(job: str = job, size: int = rng.randrange(1, len(CONTENT) - 1)) -> bool:
                out = folder / "out"
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir()
                try:
                    with _room(size):
                        jobs[job](out)
                except DataError as error:
                    told = "cannot be written" in str(error) and "delete it" not in str(error).lower()
                    left = [path.name for path in out.iterdir() if job != "download" or path.name != "got.part"]
                    now = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
                    if told and not left and now == before:
                        raise
                return False

            yield f"{job} with room for less", act
