from t3cen.figures.training import data_module, recorded_data


def test_the_data_used_are_recorded():
    with recorded_data() as used:
        data_module("mnist")
    assert used["mnist"]["source"] == "bundled"
    with recorded_data() as nothing:
        pass
    assert nothing == {}
