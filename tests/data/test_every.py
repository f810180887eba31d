"""What must hold for every data set, through its real loader on fakes in its real format."""

import pickle

import pytest
import pytorch_lightning as pl
import torch
from torch import nn

from t3cen.data import Camelyon
from t3cen.data.pictures import previews
from t3cen.data.preparation import recipes

SETS = {
    **previews(),
    **{name: (made, recipe.options) for name, (made, recipe) in recipes().items() if recipe.options},
    "camelyon_wilds": (Camelyon, {"protocol": "wilds", "flip": True}),
}
every = pytest.mark.parametrize("name", sorted(SETS))


@pytest.fixture
def make(fakes):
    def build(name, **options):
        made, own = SETS[name]
        small = {"train_size": 40, "test_size": 30} | ({"image_size": 32} if "files" in made.sized_sources else {})
        return made(root=fakes, batch_size=8, test_batch_size=16, **{**small, **own, **options})

    return build


def indices(items):
    return set(items.indices.tolist())


@every
def test_items_are_float_rgb_and_labels(name, make):
    data = make(name)
    assert data.num_classes == len(data.class_names)
    assert len(data.mean) == len(data.std) == 3
    data.setup()
    sets = [data.splits.train, *data.splits.validation.values(), *data.splits.test.values()]
    for items in sets:
        image, label = items[0]
        assert image.shape == (3, data.image_size, data.image_size)
        assert image.dtype == torch.float32
        assert image.min() >= 0
        assert image.max() <= 1
        assert isinstance(label, int)
        assert 0 <= label < data.num_classes
    assert tuple(data.splits.test) == data.test_names
    assert tuple(data.splits.validation) == data.validation_names
    assert data.provenance["source"] == "fake"
    assert data.provenance["sizes"]["train"] == len(data.splits.train)


@every
def test_sets_are_disjoint_and_stay_when_the_seed_changes(name, make):
    data, other = make(name), make(name, seed=5)
    splits = data.splits
    for test in splits.test.values():
        if test.source is splits.train.source:
            assert not indices(test) & indices(splits.train)
            for hold in splits.validation.values():
                assert not indices(test) & indices(hold)
    for hold in splits.validation.values():
        assert not indices(hold) & indices(splits.train)
    assert other.provenance["fingerprint"] == data.provenance["fingerprint"]
    assert torch.equal(other.splits.train.indices, splits.train.indices)
    labels = torch.cat([labels for _, labels in data.train_dataloader()])
    assert not torch.equal(labels, torch.cat([labels for _, labels in other.train_dataloader()]))


@every
def test_two_passes_over_the_tests_are_equal(name, make):
    data = make(name)
    for loader in [*data.val_dataloader(), *data.test_dataloader()]:
        first, second = (torch.cat([images for images, _ in loader]) for _ in range(2))
        assert torch.equal(first, second)
        assert len(first) == len(loader.dataset)


def noisy(picture, rng):
    return (picture.float() / 255 * 0.5 + torch.rand(picture.shape, generator=rng) * 0.5), picture.float() / 255


class TestWorkers:
    """Order and augmentation come from (seed, epoch, index), never from a worker."""

    def run(self, data, epochs=2):
        loader = data.train_dataloader()
        batches = []
        for epoch in range(epochs):
            loader.order.set_epoch(epoch)
            batches += list(loader)
        return [torch.cat([view.flatten() for images, _ in batches for view in images]), torch.cat([y for _, y in batches])]

    @pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker processes")
    @pytest.mark.parametrize("name", ["cifar10", "caltech101", "camelyon"])
    def test_any_number_of_workers(self, name, make):
        alone = self.run(make(name, augmentation=noisy, train_size=32))
        for workers in (1, 2, 4):
            shared = self.run(make(name, augmentation=noisy, train_size=32, num_workers=workers))
            assert all(map(torch.equal, alone, shared))

    def test_epochs_and_seeds_differ(self, make):
        data = make("cifar10", augmentation=noisy)
        loader = data.train_dataloader()
        first = {float(image.sum()) for images, _ in loader for image in images[0]}
        loader.order.set_epoch(1)
        second = {float(image.sum()) for images, _ in loader for image in images[0]}
        assert not first & second

    @pytest.mark.slow
    @every
    def test_spawned_workers(self, name, make):
        data = make(name, train_size=8, test_size=4)
        spawned = make(name, train_size=8, test_size=4, num_workers=1, start_method="spawn")
        assert all(map(torch.equal, *(next(iter(d.train_dataloader())) for d in (data, spawned))))
        assert all(map(torch.equal, *(next(iter(d.test_dataloader()[-1])) for d in (data, spawned))))

    @every
    def test_sets_can_be_pickled_after_use(self, name, make):
        splits = make(name).splits
        for items in (splits.train, list(splits.test.values())[-1]):
            image, label = items[1]
            again, same = pickle.loads(pickle.dumps(items))[1]
            assert label == same
            assert torch.equal(image, again)


class Probe(pl.LightningModule):
    """The smallest network there is, and a record of what it saw."""

    def __init__(self, classes):
        super().__init__()
        self.layer = nn.Linear(3, classes)
        self.seen = []
        self.tested = {}

    def forward(self, images):
        return self.layer(images.mean((2, 3)))

    def training_step(self, batch, index):
        images, labels = batch
        self.seen.append((self.current_epoch, images.clone(), labels.clone()))
        return nn.functional.cross_entropy(self(images), labels)

    def validation_step(self, batch, index, dataloader_idx=0):
        self(batch[0])

    def test_step(self, batch, index, dataloader_idx=0):
        self.tested[dataloader_idx] = self.tested.get(dataloader_idx, 0) + len(batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def trainer(folder, **options):
    return pl.Trainer(
        default_root_dir=folder,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
        **options,
    )


@pytest.mark.filterwarnings("ignore:.*does not have many workers")
@pytest.mark.filterwarnings("ignore:.isinstance.treespec, LeafSpec.. is deprecated")  # Lightning's own use of torch
class TestLightning:
    @every
    def test_a_step_and_a_full_test(self, name, make, tmp_path):
        data, probe = make(name), Probe(make(name).num_classes)
        running = trainer(tmp_path, max_steps=1, enable_checkpointing=False, limit_val_batches=1, log_every_n_steps=1)
        running.fit(probe, datamodule=data)
        running.test(probe, datamodule=data, verbose=False)
        assert probe.tested == {i: len(items) for i, items in enumerate(data.splits.test.values())}

    @pytest.mark.parametrize("stop", [3, 5, 7])
    @pytest.mark.parametrize("workers", [0, 1])
    def test_resuming_continues_with_the_next_batch(self, make, tmp_path, stop, workers):
        """5 batches an epoch; a checkpoint within the first epoch, at its end, and within the second."""

        class Save(pl.Callback):
            def on_train_batch_end(self, trainer, *_):
                if trainer.global_step == stop:
                    trainer.save_checkpoint(tmp_path / "at.ckpt")

        def run(checkpoint=None):
            data = make("cifar10", augmentation=lambda p, rng: noisy(p, rng)[0], train_size=40, num_workers=workers)
            probe = Probe(10)
            options = {"limit_val_batches": 0, "log_every_n_steps": 1, "enable_checkpointing": False}
            running = trainer(tmp_path, max_steps=12, callbacks=[] if checkpoint else [Save()], **options)
            running.fit(probe, datamodule=data, ckpt_path=checkpoint)
            return probe.seen

        whole = run()
        rest = run(tmp_path / "at.ckpt")
        assert len(rest) == 12 - stop
        for (epoch, images, labels), (e, i, l) in zip(whole[stop:], rest, strict=True):  # noqa: E741
            assert epoch == e
            assert torch.equal(images, i)
            assert torch.equal(labels, l)
