"""Random numbers of data follow from what is drawn."""

import torch

from t3cen.data.randomness import generator, integer, mix, permutation, uniform


def test_known_values():
    assert mix(0) != mix(1) != mix(0, 0)
    assert mix(1, 2) != mix(2, 1)
    assert 0 <= mix(2**70, -1) < 2**63


def test_equal_words_equal_numbers():
    assert torch.equal(torch.rand(5, generator=generator(1, 2, 3)), torch.rand(5, generator=generator(1, 2, 3)))


def test_neighbouring_words_are_unrelated():
    first = torch.stack([torch.rand((), generator=generator(0, 0, i)) for i in range(2000)])
    assert abs(first.mean() - 0.5) < 0.03
    assert abs(torch.corrcoef(torch.stack([first[:-1], first[1:]]))[0, 1]) < 0.08


def test_global_generator_is_left_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    permutation(10, 1), uniform(generator(1)), integer(generator(1), 0, 5)
    assert torch.equal(before, torch.get_rng_state())


def test_ranges():
    rng = generator(9)
    assert {integer(rng, 2, 5) for _ in range(200)} == {2, 3, 4}
    drawn = [uniform(rng, -1, 3) for _ in range(500)]
    assert -1 <= min(drawn) < -0.9
    assert 2.9 < max(drawn) < 3
