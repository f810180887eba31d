"""The package as others get it: a wheel, installed away from the repository."""

import ast
import json
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from t3cen.experiments import all_runs
from t3cen.experiments.schema import tables
from t3cen.figures import registry
from t3cen.project import PACKAGE, PROJECT

FENCE = f"""
import sys
def fence(event, details):
    if event in ("open", "os.listdir", "os.scandir") and details and isinstance(details[0], str):
        if details[0].startswith({(f"{PROJECT}/t3cen", f"{PROJECT}/conf", f"{PROJECT}/scripts", f"{PROJECT}/train.py")!r}):
            raise PermissionError(f"{{details[0]}} is in the repository")
sys.addaudithook(fence)
"""
ALONE = Path(__file__).with_name("torch_and_numpy_alone.py")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, PROJECT]
    subprocess.run(build, check=True)
    [file] = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A fresh environment with the wheel, this one's other packages, and no way into the repository."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment)
    python = environment / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True)
    [packages] = environment.glob("lib/python*/site-packages")
    # As lines of a .pth file these are folders alone: the editable install that may be in them is not followed.
    (packages / "others.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    (packages / "sitecustomize.py").write_text(FENCE)

    def run(*command, cwd):
        clean = {"PATH": "/usr/bin:/bin", "HOME": str(environment), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
        command = [environment / "bin" / command[0], *command[1:]]
        return subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)

    return run


@pytest.mark.slow
def test_every_file_travels(wheel):
    carried = set(zipfile.ZipFile(wheel).namelist())
    for folder in (PACKAGE, PROJECT / "conf"):
        files = {path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
        names = {str(Path("t3cen", path.relative_to(PACKAGE if folder == PACKAGE else PROJECT))) for path in files}
        assert len(names) > 100
        assert names <= carried


@pytest.mark.slow
def test_it_has_every_experiment_table_and_figure(installed, tmp_path):
    code = (
        "import json, t3cen.project as p; from t3cen.experiments import all_runs; from t3cen.experiments.schema import tables; "
        "from t3cen.figures import registry; "
        "print(json.dumps([p.IS_INSTALLED, list(all_runs()), list(tables()), registry.names()]))"
    )
    done = installed("python", "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, list(all_runs()), list(tables()), registry.names()]


@pytest.mark.slow
def test_it_trains_in_an_empty_folder_and_prints_the_table(installed, tmp_path):
    train = ["t3cen", "train", "experiment=mnist_h4", "scale=smoke", "logger.wandb=off"]
    alone = installed(*train, cwd=tmp_path)
    assert alone.returncode == 0, alone.stderr
    sweep = installed(*train, "seed=1999,2000", "launcher=local", cwd=tmp_path)  # from a copy of the installed code
    assert sweep.returncode == 0, sweep.stdout + sweep.stderr
    results = sorted(tmp_path.glob("outputs/smoke/mnist_h4/seed*/result.json"))
    assert [path.parent.name for path in results] == ["seed1999", "seed2000"]
    first, second = (json.loads(path.read_text()) for path in results)
    assert first["dirty"] is False
    assert first["code_hash"] == second["code_hash"]
    printed = installed("t3cen", "tables", "hue_shift", "--scale", "smoke", cwd=tmp_path)
    assert printed.returncode == 0, printed.stderr
    assert "T³CEN-H4" in printed.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"outputs"}


@pytest.mark.slow
def test_missing_data_name_a_command_that_is_there(installed, tmp_path):
    done = installed(
        "t3cen", "train", "experiment=mnist_h4", "data.source=files", "scale=smoke", "logger.wandb=off", cwd=tmp_path
    )
    assert done.returncode == 1
    assert f"looked for {tmp_path}/data/MNIST" in done.stdout + done.stderr
    assert "`t3cen data mnist`" in done.stdout + done.stderr
    assert installed("t3cen", "data", "mnist", "--check", cwd=tmp_path).stdout.startswith("mnist          missing")


@pytest.mark.slow
def test_layers_networks_conversion_and_analysis_need_torch_and_numpy_alone(installed, tmp_path):
    done = installed("python", "-W", "error", ALONE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "all of it works"


def declared(*extras):
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)]
    return {_normal(re.match(r"[\w.-]+", line)[0]) for names in lists for line in names}


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_package_that_is_imported_is_declared():
    known = declared("suite", "cluster", "export", "tensorboard", "timm")
    providers = metadata.packages_distributions()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - {"t3cen"}:
                assert {_normal(provider) for provider in providers.get(name, [name])} & known, (
                    f"{path}: {name} is in no list of pyproject.toml"
                )
