"""Compiling, and what is kept of it."""

import hashlib
import shutil
import subprocess
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import resources

import pytest

from t3cen.ops import cpu, kernels
from t3cen.ops.cpu import build

SOURCE = "int answer(void) { return 42; }"
PLANTED = SOURCE.replace("42", "13")


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """A folder for compiled code, and a process that has compiled nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "_warned", [])
    build._library.cache_clear()
    kernels.use("on")
    yield tmp_path / "t3cen"
    kernels.use("auto")
    build._library.cache_clear()


@pytest.fixture
def compilations(monkeypatch):
    calls, compile = [], build._compile
    monkeypatch.setattr(build, "_compile", lambda *args: calls.append(args) or compile(*args))
    return calls


def load_anew(source=SOURCE):
    build._library.cache_clear()
    return build.load(source)


def test_compiles_once(cache, compilations):
    assert load_anew().answer() == load_anew().answer() == 42
    assert len(compilations) == 1
    assert [file.suffix for file in cache.iterdir()] == [".so"]
    assert cache.stat().st_mode & 0o77 == 0


def test_other_source_other_compiler_and_other_rounding_are_other_files(cache, monkeypatch):
    build.load(SOURCE)
    build.load(PLANTED)
    build.load(SOURCE, fused=True)
    monkeypatch.setattr(build, "compiler_version", lambda: "another")
    load_anew()
    assert len(list(cache.iterdir())) == 4


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b[:-40] + b"x" + b[-39:]])
def test_broken_files_are_made_anew(cache, compilations, damage):
    build.load(SOURCE)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.unlink()  # the process holds this one open; only another of its name is broken
    file.write_bytes(damage(whole))
    file.chmod(0o700)
    assert load_anew().answer() == 42
    assert len(compilations) == 2


def test_many_at_once(cache):
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: build._library.__wrapped__(SOURCE, False), range(4)))
    assert [library.answer() for library in made] == [42] * 4
    assert [file.suffix for file in cache.iterdir()] == [".so"]


def plant(cache, mode):
    """Put other code, with a valid digest, where that of `SOURCE` is looked for."""
    cache.mkdir(mode=0o700)
    file = cache / build._name(SOURCE, (*build.FLAGS, "-ffp-contract=off"))
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-o", file, "-"], input=PLANTED, text=True, check=True)
    content = file.read_bytes()
    file.write_bytes(content + hashlib.sha256(content).digest())
    file.chmod(mode)


def test_a_folder_that_others_can_write_to_is_not_trusted(cache):
    plant(cache, 0o700)
    assert load_anew().answer() == 13  # so it is a file that would be loaded
    for mode in (0o777, 0o770, 0o1777):
        cache.chmod(mode)
        with pytest.raises(build.UnavailableError, match=f"{cache} is not this user's alone.*set XDG_CACHE_HOME"):
            load_anew()


def test_a_folder_or_file_of_another_user_is_not_trusted(cache, monkeypatch):
    plant(cache, 0o700)
    user = build.os.getuid()
    monkeypatch.setattr(build.os, "getuid", lambda: user + 1)
    with pytest.raises(build.UnavailableError, match="is not this user's alone"):
        load_anew()


def test_a_folder_that_everybody_can_rename_is_not_trusted(cache):
    plant(cache, 0o700)
    cache.parent.chmod(0o777)
    with pytest.raises(build.UnavailableError, match=f"everybody can rename {cache}: `chmod o-w {cache.parent}`"):
        load_anew()
    cache.parent.chmod(0o1777)
    assert load_anew().answer() == 13


@pytest.mark.parametrize("mode", [0o777, 0o720])
def test_a_file_that_others_can_write_to_is_made_anew(cache, mode):
    plant(cache, mode)
    assert load_anew().answer() == 42


def test_a_link_to_a_file_elsewhere_is_made_anew(cache, tmp_path):
    plant(cache, 0o700)
    (file,) = cache.iterdir()
    shutil.move(file, tmp_path / "elsewhere.so")
    file.symlink_to(tmp_path / "elsewhere.so")
    assert load_anew().answer() == 42


def test_a_user_without_a_home_has_no_compiled_code(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")

    def home():
        raise RuntimeError("no home directory")

    monkeypatch.setattr(build.Path, "home", home)
    with pytest.raises(build.UnavailableError, match="home directory; set XDG_CACHE_HOME"):
        build.load(SOURCE)


def test_a_place_that_cannot_be_written_to(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(build.UnavailableError, match=r"cannot be kept or loaded: .*XDG_CACHE_HOME moves it"):
        build.load(SOURCE)


def test_a_compiler_that_fails_is_one_warning_with_its_last_lines():
    with pytest.raises(build.UnavailableError, match=r"cc failed: .*source\.c"):
        build.load("int answer(")
    kernels.use("auto")
    with pytest.warns(UserWarning, match=r"nothing is compiled, .*\s.*source\.c"):
        assert build.load("int answer(") is None
    with warnings.catch_warnings(action="error"):
        assert build.load("int answer((") is None
    kernels.use("off")
    assert build.load(SOURCE) is None


def test_no_compiler(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -O3")
    with pytest.raises(build.UnavailableError, match="no C compiler: 'no-such-compiler' is not found; install one or set CC"):
        build.load(SOURCE)
    assert kernels.status().startswith("matrix products: no C compiler")


def test_status(monkeypatch):
    assert kernels.status() == f"compiled: {build.compiler_version()}"
    kernels.use("off")
    assert kernels.status() == "matrix products: switched off"
    with pytest.raises(ValueError, match="must be one of auto, on, off, got 'maybe'"):
        kernels.use("maybe")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", ["conv.c", "norm.c"])
def test_compilers_have_nothing_to_say(compiler, name):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    flags = ("-Wall", "-Wextra", "-Werror", "-march=native", "-c", "-o", "/dev/null")
    subprocess.run([compiler, *flags, resources.files(cpu) / "csrc" / name], check=True)
