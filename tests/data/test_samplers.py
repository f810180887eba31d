"""The order of items: from (seed, epoch), shared by processes, resumable within an epoch."""

import pytest
import torch
from torch.utils.data import Dataset

from t3cen.data.samplers import EpochOrder, Share, TrainLoader


class Echo(Dataset):
    """Items that are their own draw."""

    def __len__(self):
        return 10

    def __getitem__(self, draw):
        return torch.tensor(draw)


def flat(order):
    return [draw for batch in order for draw in batch]


def test_every_item_once_an_epoch_and_epochs_differ():
    order = EpochOrder(10, 4, seed=3)
    first = flat(order)
    order.set_epoch(1)
    second = flat(order)
    assert sorted(i for _, i in first) == sorted(i for _, i in second) == list(range(10))
    assert [i for _, i in first] != [i for _, i in second]
    assert {e for e, _ in second} == {1}
    assert [len(b) for b in order] == [4, 4, 2]
    assert len(order) == 3


def test_order_is_seed_and_epoch_alone():
    order, other = EpochOrder(50, 8, seed=3), EpochOrder(50, 8, seed=4)
    assert flat(order) == flat(EpochOrder(50, 8, seed=3))
    assert flat(order) != flat(other)


@pytest.mark.parametrize("processes", [2, 3])
def test_processes_share_the_same_batches(processes):
    whole = list(EpochOrder(20, 6, seed=1))
    shares = [list(EpochOrder(20, 6, seed=1, rank=r, processes=processes)) for r in range(processes)]
    for k, batch in enumerate(whole[:-1]):
        assert sorted(batch) == sorted(draw for share in shares for draw in share[k])
    assert len({len(share[-1]) for share in shares}) == 1


def test_uneven_share_of_a_batch_is_refused():
    with pytest.raises(ValueError, match=r"batch of 6 .* 4 processes"):
        EpochOrder(20, 6, seed=1, processes=4)


@pytest.mark.parametrize("count", [1, 7, 8])
def test_test_items_are_visited_once(count):
    visited = [i for rank in range(3) for i in Share(count, rank, 3)]
    assert sorted(visited) == list(range(count))
    assert sum(len(Share(count, rank, 3)) for rank in range(3)) == count


@pytest.mark.parametrize("workers", [0, 2])
def test_resume_within_an_epoch(workers):
    def loader():
        return TrainLoader(Echo(), EpochOrder(10, 2, seed=0), num_workers=workers)

    running = loader()
    running.order.set_epoch(2)
    batches = iter(running)
    seen = [next(batches), next(batches)]
    state = running.state_dict()
    assert state == {"epoch": 2, "batch": 2}

    resumed = loader()
    resumed.load_state_dict(state)
    assert len(resumed) == 5
    rest = list(resumed)
    assert torch.equal(torch.cat([*seen, *rest]), torch.cat([*seen, *batches]))
    assert len(rest) == 3
    resumed.order.set_epoch(3)
    assert len(list(resumed)) == 5


def test_a_finished_epoch_resumes_at_the_next():
    loader = TrainLoader(Echo(), EpochOrder(10, 4, seed=0))
    list(loader)
    assert loader.state_dict() == {"epoch": 1, "batch": 0}


def test_an_epoch_that_is_cut_off_resumes_at_the_next():
    loader = TrainLoader(Echo(), EpochOrder(10, 4, seed=0))
    batches = iter(loader)
    next(batches), next(batches)
    assert loader.state_dict(length=3) == {"epoch": 0, "batch": 2}
    assert loader.state_dict(length=2) == {"epoch": 1, "batch": 0}
