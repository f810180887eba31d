import pytest

from t3cen.training.folders import LONGEST, run_folder


@pytest.mark.parametrize(
    ("given", "in_a_sweep"),
    [
        ("step_jitter=true", "step_jitter=True"),
        ("optimizer.lr=1e-3,step_jitter=false", "optimizer.lr=0.001,step_jitter=False"),
        ("trainer.max_steps=5", "trainer.max_steps=5"),
        ("data.source=rendered", "data.source=rendered"),
    ],
)
def test_a_run_has_one_folder_alone_and_in_a_sweep(given, in_a_sweep):
    folder = run_folder("smoke", "mnist_h4", 1999, given.split(","))
    assert folder == run_folder("smoke", "mnist_h4", 1999, in_a_sweep.split(","))
    assert folder.startswith("smoke/mnist_h4/")
    assert folder.endswith("/seed1999")


def test_other_settings_are_other_folders():
    changes = [
        "",
        "a=1",
        "a=1.0",
        "a=2",
        "a=true",
        "a=truer",
        "a=[1,2]",
        "a=[1,3]",
        "a=" + "x" * LONGEST,
        "a=" + "x" * LONGEST + "y",
    ]
    assert len({run_folder("smoke", "mnist_h4", 1999, [change] if change else []) for change in changes}) == len(changes)


@pytest.mark.parametrize(
    "line",
    [
        "checkpoint_every.minutes=1",
        "checkpoint_every={minutes: 1, steps: 2}",
        "trainer.accelerator=cpu",
        "logger.wandb_project=other",
        "data_root=/scratch",
        "data.root=/scratch",
        "data.num_workers=3",
        "num_workers=3",
        "model.recompute=true",
        "outputs=elsewhere",
        "launcher=slurm",
        "hydra/launcher=joblib",
        "seed=3",
    ],
)
def test_what_cannot_change_a_result_is_no_part_of_the_folder(line):
    assert run_folder("smoke", "mnist_h4", 1999, [line]) == "smoke/mnist_h4/seed1999"
    assert run_folder("smoke", "mnist_h4", 1999, ["a=1", line]) == "smoke/mnist_h4/a=1/seed1999"
