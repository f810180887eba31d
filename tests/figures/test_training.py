from t3cen.figures.training import data_module, recorded_data, training_config


def test_the_configuration_is_that_of_train_py():
    config = training_config(["experiment=mnist_h4", "scale=laptop", "seed=5"])
    assert config["name"] == "mnist_h4"
    assert config["seed"] == 5
    assert config["model"]["group"] == "h4"


def test_the_data_used_are_recorded():
    with recorded_data() as used:
        data_module("mnist")
    assert used["mnist"]["source"] == "bundled"
    with recorded_data() as nothing:
        pass
    assert nothing == {}
