"""Downloads against a server of our own: resumed, verified, and whole or absent."""

import errno
import hashlib
import http.server
import multiprocessing
import os
import signal
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest

from t3cen.data.download import Remote, extract, fetch, gunzip, whole_folder
from t3cen.data.errors import DataError

CONTENT = bytes(range(256)) * 400


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT at /file, with ranges; /plain ignores ranges; /cut breaks off half way; anything else is 404."""

    ranges: list  # what was asked for

    def do_GET(self):
        asked = self.headers.get("Range")
        type(self).ranges.append(asked)
        if self.path not in ("/file", "/plain", "/cut"):
            self.send_error(404)
            return
        start = int(asked.split("=")[1].rstrip("-")) if asked and self.path != "/plain" else 0
        if start >= len(CONTENT):
            self.send_error(416)
            return
        body = CONTENT[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.path == "/cut" else body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    Handler.ranges = []
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{running.server_address[1]}"
    running.shutdown()
    running.server_close()
    thread.join()


def remote(*urls, **wrong):
    return Remote(urls, **{"size": len(CONTENT), "md5": hashlib.md5(CONTENT).hexdigest(), **wrong})


def test_whole_file_and_second_call_downloads_nothing(server, tmp_path):
    target = tmp_path / "deep" / "file"
    fetch(remote(f"{server}/file"), target)
    assert target.read_bytes() == CONTENT
    fetch(remote(f"{server}/file"), target)
    assert Handler.ranges == [None]


@pytest.mark.parametrize("path", ["file", "plain"])
def test_goes_on_where_it_stopped(server, tmp_path, path):
    (tmp_path / "x.part").write_bytes(CONTENT[:1000])
    fetch(remote(f"{server}/{path}"), tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert Handler.ranges == ["bytes=1000-"]
    assert not (tmp_path / "x.part").exists()


@pytest.mark.parametrize(
    ("come", "known", "asked"),
    [
        (CONTENT, {}, [f"bytes={len(CONTENT)}-"]),  # stopped between the last byte and the name
        (CONTENT[::-1], {}, [f"bytes={len(CONTENT)}-", None]),
        (CONTENT + b"more", {"md5": None}, [f"bytes={len(CONTENT) + 4}-", None]),
    ],
)
def test_a_part_that_nothing_follows_is_whole_or_fetched_anew(server, tmp_path, come, known, asked):
    (tmp_path / "x.part").write_bytes(come)
    fetch(remote(f"{server}/file", size=None, **known), tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert Handler.ranges == asked


def test_broken_off_is_kept_and_not_taken_for_whole(server, tmp_path):
    with pytest.raises(DataError, match=r"no connection .*ended after|IncompleteRead"):
        fetch(remote(f"{server}/cut"), tmp_path / "x")
    assert not (tmp_path / "x").exists()
    assert 0 < (tmp_path / "x.part").stat().st_size < len(CONTENT)
    fetch(remote(f"{server}/file"), tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("wrong", "message"), [({"md5": "0" * 32}, "has md5 .* expected"), ({"size": 5, "md5": None}, "bytes, 5 expected")]
)
def test_wrong_file_is_thrown_away(server, tmp_path, wrong, message):
    with pytest.raises(DataError, match=message):
        fetch(remote(f"{server}/file", **wrong), tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_wrong_file_of_that_name_is_noticed(tmp_path):
    (tmp_path / "x").write_bytes(b"other")
    with pytest.raises(DataError, match="has 5 bytes"):
        fetch(remote("http://127.0.0.1:9/x"), tmp_path / "x")


def test_dead_link_and_mirror(server, tmp_path):
    with pytest.raises(DataError, match=r"gone: the server answers 404 .*no connection"):
        fetch(remote(f"{server}/gone", "http://127.0.0.1:9/x"), tmp_path / "x")
    fetch(remote(f"{server}/gone", f"{server}/file"), tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_archives(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.txt").write_text("a")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as packed:
        packed.add(tmp_path / "inner", "inner")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.write(tmp_path / "inner" / "a.txt", "inner/a.txt")
    for name in ("a.tar.gz", "a.zip"):
        extract(tmp_path / name, tmp_path / "out" / name)
        assert (tmp_path / "out" / name / "inner" / "a.txt").read_text() == "a"
    content = (tmp_path / "a.tar.gz").read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="cannot be unpacked"):
        extract(tmp_path / "cut.tar.gz", tmp_path / "out" / "cut")


def test_a_folder_is_whole_or_absent(tmp_path):
    def half(folder):
        (folder / "a").write_text("a")
        raise DataError("stopped")

    with pytest.raises(DataError, match="stopped"):
        whole_folder(tmp_path / "set", half)
    assert list(tmp_path.iterdir()) == []
    whole_folder(tmp_path / "set", lambda folder: (folder / "a").write_text("a"))
    assert (tmp_path / "set" / "SHA256SUMS").read_text() == f"{hashlib.sha256(b'a').hexdigest()}  a\n"
    with pytest.raises(DataError, match="exists already"):
        whole_folder(tmp_path / "set", half)


def test_what_a_killed_process_left_of_a_folder_is_removed(tmp_path):
    def dies(folder):
        (folder / "a").write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)

    child = multiprocessing.get_context("fork").Process(target=whole_folder, args=(tmp_path / "set", dies))
    child.start()
    child.join()
    assert [path.name for path in tmp_path.glob("*.part")] == ["set.part"]
    whole_folder(tmp_path / "set", lambda folder: (folder / "b").write_text("b"))
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    assert {path.name for path in (tmp_path / "set").iterdir()} == {"b", "SHA256SUMS"}


def test_an_archive_that_cannot_be_opened_is_not_to_be_deleted(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("gzip.open", refuse)
    with pytest.raises(DataError, match=r"a.gz cannot be read \(Permission denied\). Nothing has to be deleted"):
        gunzip(tmp_path / "a.gz", tmp_path / "a")


@pytest.fixture
def network(monkeypatch):
    """The servers and disks of the attack, from `scripts/`."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "scripts")
    from data_attacks import network

    return network


class TestMirrors:
    """Against the servers of the attack, which fail in every way."""

    @pytest.fixture
    def servers(self, network):
        with network.serving() as address:
            yield address

    @pytest.fixture
    def expected(self, network):
        return network.CONTENT

    @pytest.mark.parametrize(
        ("path", "said"),
        [
            ("cut chunks", "no connection"),
            ("cut length", "ended after 100,000 of 300,000 bytes"),
            ("bad status line", "no connection"),
            ("bad length", None),  # the length is left out of account, and the bytes are right
            ("longer length", "has a file of 300,099 bytes, 300,000 expected"),
            ("error page", "sends a web page instead of the file"),
            ("wrong bytes", "has md5 .*, .* expected"),
            ("longer", "has a file of 300,004 bytes, 300,000 expected"),
            ("204", "the server answers 204"),
            ("closed at once", "no connection"),
            ("redirect loop", "the server answers 302"),
        ],
    )
    def test_the_next_is_tried_and_every_failure_is_told_in_one_line(self, servers, expected, tmp_path, path, said):
        digest = hashlib.md5(expected).hexdigest()
        bad, right = f"{servers}/{path.replace(' ', '%20')}", f"{servers}/right"
        fetch(Remote((bad, right), len(expected), digest), tmp_path / "x", 0.5)
        assert (tmp_path / "x").read_bytes() == expected
        assert [path.name for path in tmp_path.iterdir()] == ["x"]
        if said is not None:
            with pytest.raises(DataError, match=said) as told:
                fetch(Remote((bad,), len(expected), digest), tmp_path / "y", 0.5)
            assert "\n" not in str(told.value)
            assert not (tmp_path / "y").exists()

    @pytest.mark.parametrize("path", ["error page", "error page, plain", "404", "wrong range", "bad status line"])
    def test_what_has_come_survives_a_failing_server(self, servers, expected, tmp_path, path):
        (tmp_path / "x.part").write_bytes(expected[:2000])
        with pytest.raises(DataError):
            fetch(Remote((f"{servers}/{path.replace(' ', '%20')}",), md5="0" * 32), tmp_path / "x", 0.5)
        assert (tmp_path / "x.part").read_bytes() == expected[:2000]

    def test_a_wrong_beginning_is_not_gone_on_with_for_ever(self, servers, expected, tmp_path):
        (tmp_path / "x.part").write_bytes(bytes(2000))
        fetch(Remote((f"{servers}/right",), len(expected), hashlib.md5(expected).hexdigest()), tmp_path / "x")
        assert (tmp_path / "x").read_bytes() == expected


@pytest.mark.parametrize("job", ["download", "gunzip", "tar", "block"])
def test_a_full_disk_is_not_blamed_on_the_source(network, tmp_path, job):
    for what, act in network.disk(tmp_path, 4):
        if what.startswith(job):
            with pytest.raises(DataError, match=r"cannot be written \(File too large\).*nothing has to be deleted"):
                act()
