"""Every declared run has a name in Hydra and composes to what its table says."""

import copy
import subprocess
import sys
from dataclasses import replace

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from t3cen import experiments
from t3cen.experiments import Run, all_runs, help_footer, register, runs_of, trained_tables
from t3cen.experiments.composition import compose as compose_quickly
from t3cen.experiments.schema import TABLE_DIR, parse

CONF = TABLE_DIR.parent
register()


@pytest.fixture(scope="module")
def hydra_conf():
    GlobalHydra.instance().clear()
    with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        yield


def test_settings_of_every_row_are_keys_that_exist_and_win():
    for run in all_runs().values():
        without = replace(run, name="nothing set", group=None, settings={})
        before, after = (OmegaConf.create(compose_quickly(r, "paper"), flags={"readonly": True}) for r in (without, run))
        for key, value in run.changes.items():
            assert OmegaConf.select(before, key, default=...) is not ..., f"{run.name}: {key}"
            assert OmegaConf.select(after, key) == value, f"{run.name}: {key}"


def test_runs_shared_by_tables_are_listed_once():
    shared = {run.name for run in runs_of("color_shift")} & {run.name for run in runs_of("vanilla")}
    assert "cifar10_s4" in shared
    assert len(runs_of("color_shift")) == len({run.name for run in runs_of("color_shift")}) == 6 * 13


def test_a_row_that_lists_another_run_again_is_reachable_but_not_trained_twice():
    assert all_runs()["camelyon_lcer_h4"] == Run("camelyon_lcer_h4", "camelyon", "lcer", "h4")
    assert "camelyon_lcer_h4" not in {run.name for run in runs_of("camelyon17")}


@pytest.mark.parametrize("name", ["camelyon_s4", "shapes3d_hue_h4", "shapes3d_hue_resnet44", "smallnorb_l16", "cifar10_lcer_s3",
                                  "cifar10_augmix", "mnist_h4", "mnist_z2cnn", "mnist_angle0_h4"])  # fmt: skip
def test_promised_names(name):
    assert name in all_runs()


def test_two_definitions_of_one_name_are_refused(tmp_path):
    first = (TABLE_DIR / "kutomadata.yaml").read_text()
    (tmp_path / "a.yaml").write_text(first)
    (tmp_path / "b.yaml").write_text(first.replace("group: h4", "group: h3"))
    with pytest.raises(ValueError, match=r"b: experiment 'kutomadata_h4' is .*h3.*but a has .*h4"):
        all_runs(tmp_path)


def test_sweep_runs_the_table_once_per_seed(hydra_conf):
    config = compose("train", overrides=["sweep=saturation_shift"], return_hydra_config=True)
    assert config.hydra.mode.name == "MULTIRUN"
    assert config.hydra.sweeper.params.seed == "1999,2000,2001"
    assert config.hydra.sweeper.params.experiment.split(",") == [
        f"shapes3d_sat_{row}" for row in ("resnet44", "lcer_s3", "s3", "s4", "lcer_s3_whole", "augmix")
    ]


def test_help_lists_every_table_and_row():
    footer = help_footer()
    for table in trained_tables():
        assert f"  {table.name} - {table.title}" in footer
    assert "shapes3d_hue_{resnet44, ceconv3, ceconv4, h3, h4}" in footer
    assert max(map(len, footer.splitlines())) <= 100


def test_nothing_heavy_is_imported():
    code = "import sys, t3cen.experiments as e; e.register(); e.help_footer(); print({'torch', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "set()"


def test_a_new_row_is_one_line(hydra_conf, tmp_path, monkeypatch):
    """The example of docs/results.md, executed."""
    text = (TABLE_DIR / "hue_shift.yaml").read_text()
    line = "  - {name: h6, label: T³CEN-H6, model: t3cen, group: h6}\n"
    assert line in (CONF.parent / "docs" / "results.md").read_text()
    (tmp_path / "hue_shift.yaml").write_text(text.replace("notes:\n", line + "notes:\n"))
    run = all_runs(tmp_path)["shapes3d_hue_h6"]
    assert run in runs_of(parse("hue_shift", (tmp_path / "hue_shift.yaml").read_text()))
    monkeypatch.setattr(ConfigStore.instance(), "repo", copy.deepcopy(ConfigStore.instance().repo))
    register(tmp_path)
    assert compose("train", overrides=["experiment=shapes3d_hue_h6"]).model.group == "h6"
    assert "shapes3d_hue_h6" not in experiments.all_runs()
