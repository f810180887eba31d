"""Folding the group into the batch and back."""

import pytest
import torch

from t3cen.nn.layout import fold, unfold


def test_fold_is_batch_major_and_unfold_undoes_it():
    f = torch.arange(2 * 3 * 4 * 5 * 6).view(2, 3, 4, 5, 6)
    folded = fold(f)
    assert folded.shape == (6, 4, 5, 6)
    assert torch.equal(folded[4], f[1, 1])
    assert folded.data_ptr() == f.data_ptr()
    assert torch.equal(unfold(folded, 3), f)
    assert unfold(folded, 3).data_ptr() == f.data_ptr()


def test_wrong_sizes_say_both_numbers():
    with pytest.raises(ValueError, match=r"5 folded entries in \(5, 2\), a multiple of the group order 3 expected"):
        unfold(torch.zeros(5, 2), 3)
    with pytest.raises(ValueError, match=r"shape \(B, G, C, \.\.\.\), got \(2, 3\)"):
        fold(torch.zeros(2, 3))
