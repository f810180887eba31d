"""Which errors are told in a line, and which keep their traceback."""

import os
import signal

import pytest
from torch.utils.data import DataLoader, Dataset

from t3cen.training.errors import LoaderKilled, expected


class Dies(Dataset):
    """Whose item 1 is the end of the process that asks for it."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return index


def test_a_killed_loader_is_told_by_what_helps():
    with pytest.raises(RuntimeError) as caught:
        list(DataLoader(Dies(), num_workers=1, multiprocessing_context="fork"))
    told = expected(caught.value)
    assert isinstance(told, LoaderKilled)
    assert "was killed" in str(told)
    assert "num_workers" in str(told)


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("DataLoader worker (pid 12) is killed by signal: Killed. ", "loader process 12 was killed (Killed),"),
        ("DataLoader worker (pid(s) 12, 13) exited unexpectedly", "loader process 12, 13 was killed,"),
        (
            "DataLoader worker (pid 12) is killed by signal: Bus error. Out of shared memory?",
            "loader process 12 was killed (Bus error),",
        ),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_both_ways_of_noticing_it_also_inside_of_another_error(text, by, wrapped):
    error = RuntimeError(text)
    if wrapped:
        try:
            try:
                raise error
            except RuntimeError:
                raise KeyError("anything") from None
        except KeyError as outer:
            error = outer
    assert str(expected(error)).startswith(by)


@pytest.mark.parametrize("text", ["Caught KeyError in DataLoader worker process 0.", "mat1 and mat2 shapes cannot be multiplied"])
def test_a_bug_keeps_its_traceback(text):
    assert expected(RuntimeError(text)) is None
