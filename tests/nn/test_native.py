"""Compiling, and what is kept of it."""

import subprocess
import sys

import pytest

SOURCE = "int answer(void) { return 42; }"


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "t3cen"


@pytest.fixture
def compilations(monkeypatch):
    calls, compile = [], native._compile
    monkeypatch.setattr(native, "_compile", lambda *args: calls.append(args) or compile(*args))
    return calls


def test_compiles_once(cache, compilations):
    assert native.library(SOURCE).answer() == 42
    assert native.library(SOURCE).answer() == 42
    assert len(compilations) == 1
    assert [file.suffix for file in cache.iterdir()] == [".so"]
    assert cache.stat().st_mode & 0o77 == 0


def test_other_source_and_other_compiler_are_other_files(cache, monkeypatch):
    native.library(SOURCE)
    native.library(SOURCE.replace("42", "43"))
    monkeypatch.setattr(native, "compiler_version", lambda: "another")
    native.library(SOURCE)
    assert len(list(cache.iterdir())) == 3


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b[:-40] + b"x" + b[-39:]])
def test_broken_files_are_made_again(cache, compilations, damage):
    native.library(SOURCE)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.unlink()  # the process holds this one open; only another of its name is broken
    file.write_bytes(damage(whole))
    assert native.library(SOURCE).answer() == 42
    assert len(compilations) == 2
    assert native._whole(file)


def test_many_processes_at_once(cache):
    script = f"import runpy; print(runpy.run_path({native.__file__!r})['library']({SOURCE!r}).answer())"
    running = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate()[0] for process in running] == ["42\n"] * 4
    assert [file.suffix for file in cache.iterdir()] == [".so"]


def test_a_user_without_a_home_has_no_compiled_code(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")

    def home():
        raise RuntimeError("no home directory")

    monkeypatch.setattr(native.Path, "home", home)
    with pytest.raises(native.UnavailableError, match="home directory; set XDG_CACHE_HOME"):
        native.library(SOURCE)


def test_mistakes_are_reported():
    with pytest.raises(native.UnavailableError, match=r"cc failed: .*source\.c"):
        native.library("int answer(")
