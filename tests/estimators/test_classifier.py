import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier, load_estimator, save_estimator
from latopo.models import SYSTEMS


def quick(**parameters):
    return DCMClassifier(**{"random_state": 0, "max_epochs": 9, "hidden_channels": 8, **parameters})


def test_default_fit_learns_iris():
    X, y = load_iris(return_X_y=True)
    classifier = DCMClassifier(random_state=0).fit(X[::2], y[::2])
    assert classifier.score(X[1::2], y[1::2]) > 0.9
    assert classifier.complex_.num_nodes == 75
    assert classifier.complex_.num_polygons > 0
    assert classifier.edge_probabilities_.shape == (classifier.complex_.num_edges,)
    assert [row["epoch"] for row in classifier.history_] == list(range(1, len(classifier.history_) + 1))
    assert (classifier.transduction_ == y[::2]).mean() > 0.9
    assert np.allclose(classifier.label_distributions_.sum(axis=1), 1)
    assert np.array_equal(classifier.classes_[classifier.label_distributions_.argmax(axis=1)], classifier.transduction_)


def test_default_parameters_are_stored_untouched():
    assert DCMClassifier().get_params() == {
        "max_length": 4,
        "model": "auto",
        "degree": "auto",
        "hidden_channels": "auto",
        "dropout": 0.5,
        "learning_rate": 0.01,
        "weight_decay": "auto",
        "max_epochs": 50,
        "early_stopping": "auto",
        "validation_fraction": 0.1,
        "patience": 10,
        "search": "auto",
        "bins": "auto",
        "max_anchors": "auto",
        "unlabelled": None,
        "random_state": None,
        "device": "auto",
        "verbose": 0,
        "class_weight": None,
    }
    strange = object()
    assert DCMClassifier(max_epochs=strange).max_epochs is strange


def test_string_labels_and_probabilities(rows):
    X, y = rows
    names = np.array(["low", "mid", "high"])[y]
    classifier = quick().fit(X, names)
    assert classifier.classes_.tolist() == ["high", "low", "mid"]
    probabilities = classifier.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.array_equal(classifier.predict(X), classifier.classes_[probabilities.argmax(axis=1)])


def test_seed_decides_and_global_random_state_is_left_alone(rows):
    X, y = rows
    state = torch.get_rng_state()
    first, second, other = (quick(random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), state)
    assert np.array_equal(first, second)
    assert not np.allclose(first, other)


def test_scale_of_features_does_not_matter(rows):
    X, y = rows
    plain = quick().fit(X, y).predict_proba(X)
    scaled = quick().fit(X * [1, 1e3, 1e-3, 1] + 5, y).predict_proba(X * [1, 1e3, 1e-3, 1] + 5)
    np.testing.assert_allclose(scaled, plain, atol=1e-3)


def test_unlabelled_rows_are_opt_in(rows):
    X, y = rows
    sparse_y = np.where(np.arange(60) < 15, y, -1)
    ordinary = quick().fit(X, sparse_y)
    assert ordinary.classes_.tolist() == [-1, 0, 1, 2]
    semi = DCMClassifier(random_state=0, unlabelled=-1, max_epochs=30).fit(X, sparse_y)
    assert semi.classes_.tolist() == [0, 1, 2]
    assert semi.complex_.num_nodes == 60
    assert (semi.transduction_[15:] == y[15:]).mean() > 0.7
    strings = np.where(np.arange(60) < 15, y.astype(str), "")
    assert quick(unlabelled="").fit(X, strings).classes_.tolist() == ["0", "1", "2"]


def test_targets_of_unlabelled_rows_are_not_read(rows):
    X, y = rows
    first, second = (np.where(np.arange(60) % 3 < 2, y, fill) for fill in (7, 7))
    assert np.array_equal(
        quick(unlabelled=7).fit(X, first).predict_proba(X), quick(unlabelled=7).fit(X, second).predict_proba(X)
    )


def test_sparse_rows_are_answered_as_dense_ones(rows):
    X, y = rows
    X = np.where(np.abs(X) > 1.5, X, 0.0)
    classifier = quick().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(
        classifier.predict_proba(sparse.csr_array(X)), classifier.predict_proba(sparse.coo_array(X)), atol=1e-12
    )
    wide = sparse.hstack([sparse.csr_array(X), sparse.csr_array((60, 50))], format="csr")  # sparse inside, too
    assert quick().fit(wide, y).score(wide, y) > 0.5


def test_data_frame_and_feature_names(rows):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows[0], columns=list("abcd"))
    classifier = quick().fit(frame, rows[1])
    assert classifier.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(frame[list("dcba")])


def test_given_graph(rows):
    X, y = rows
    same = np.array([(i, j) for i in range(60) for j in range(i) if y[i] == y[j] and (i + j) % 5 == 0]).T
    noise = np.random.RandomState(0).randn(60, 4)
    alone = quick(max_epochs=30, hidden_channels=32).fit(noise, y)
    helped = quick(max_epochs=30, hidden_channels=32).fit(noise, y, edge_index=same)
    assert (helped.transduction_ == y).mean() > (alone.transduction_ == y).mean() or (helped.transduction_ == y).all()
    assert helped._model.settings.weighing is not None  # a graph of unknown worth is weighed first
    assert helped.predict_proba(X).shape == (60, 3)  # queries have no edges in the given graph
    with pytest.raises(LatopoError, match="DCMClassifier"):
        quick().fit(X, y, edge_index=[[0], [60]])
    with pytest.raises(LatopoError, match="edge_index"):
        quick().fit(X, y, edge_index=[["a"], ["b"]])


def test_max_anchors_makes_the_complex_of_a_part(rows):
    X, y = rows
    labels = np.where(np.arange(60) % 2 == 0, y, -1)
    edges = np.stack([np.arange(59), np.arange(1, 60)])
    classifier = quick(max_anchors=35, unlabelled=-1).fit(X, labels, edge_index=edges)
    assert classifier.complex_.num_nodes == len(classifier.anchor_rows_) == 35
    assert set(range(0, 60, 2)) <= set(classifier.anchor_rows_)  # labelled rows come first
    assert classifier.transduction_.shape == (60,)
    left = np.setdiff1d(np.arange(60), classifier.anchor_rows_)
    assert np.array_equal(classifier.transduction_[left], classifier.predict(X[left]))


def test_early_stopping(rows):
    X, y = np.tile(rows[0], (3, 1)), np.tile(rows[1], 3)
    X = X + 0.1 * np.random.RandomState(0).randn(*X.shape)
    stopped = quick(max_epochs=200, early_stopping=True, patience=2, learning_rate=0.05).fit(X, y)
    assert len(stopped.history_) < 200
    assert stopped.best_epoch_ <= len(stopped.history_)
    assert len(quick(max_epochs=12).fit(X, y).history_) == 12  # "auto" does not stop on 180 rows


def test_automatic_settings_follow_the_labelled_rows():
    classifier = DCMClassifier()
    assert [classifier._width(rows) for rows in (999, 1000)] == [32, 64]
    assert [classifier._decay(rows) for rows in (100, 1500)] == [0.03, 0.01]
    assert [classifier._stops_early(rows) for rows in (9_999, 10_000)] == [False, True]
    fixed = DCMClassifier(hidden_channels=7, weight_decay=0.5, early_stopping=True)
    assert (fixed._width(9), fixed._decay(9), fixed._stops_early(9)) == (7, 0.5, True)


def test_scikit_learn_tools(rows):
    X, y = rows
    pipeline = make_pipeline(MinMaxScaler(), quick(max_epochs=6, hidden_channels=32))
    assert cross_val_score(pipeline, X, y, cv=2).mean() > 0.5
    search = GridSearchCV(quick(max_epochs=3), {"max_length": [2, 4]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {"max_length"}
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()


def test_pickle_round_trip(classifier, rows):
    again = pickle.loads(pickle.dumps(classifier))
    assert np.array_equal(again.predict_proba(rows[0]), classifier.predict_proba(rows[0]))
    assert again.complex_ == classifier.complex_


def test_verbose_says_the_time_beforehand(rows, capsys):
    quick(verbose=1, max_epochs=3).fit(*rows)
    assert "60 rows, 4 features: about" in capsys.readouterr().err
    quick(max_epochs=3).fit(*rows)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, np.zeros(60), "one class, 0"),
        ({"unlabelled": 0}, np.zeros(60), "no label at all"),
        ({}, np.linspace(0, 1, 60), "continuous"),
        ({"device": "toaster"}, None, "got 'toaster'"),
    ],
)
def test_bad_parameters_and_targets(rows, parameters, y, message):
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(rows[0], rows[1] if y is None else y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_length", -3), ("degree", 0.0), ("hidden_channels", 0), ("hidden_channels", "wide"), ("dropout", 1.0),
        ("learning_rate", -1.0), ("learning_rate", np.inf), ("weight_decay", "x"), ("max_epochs", 0),
        ("max_epochs", 2.5), ("early_stopping", "never"), ("validation_fraction", 2), ("patience", -1),
        ("max_anchors", 0), ("max_anchors", -7), ("max_anchors", 20.5), ("random_state", -1), ("device", 0),
        ("model", "transformer"), ("verbose", "loud"),
    ],
)  # fmt: skip
def test_a_bad_parameter_is_named(rows, name, value):
    with pytest.raises(LatopoError, match=rf"DCMClassifier: {name} must be .*, got {value!r}"):
        quick(**{name: value}).fit(*rows)


@pytest.mark.skipif(torch.cuda.is_available(), reason="for a machine without CUDA")
def test_a_device_that_is_not_there(rows):
    with pytest.raises(LatopoError, match=r"device: .* got 'cuda'"):
        quick(device="cuda").fit(*rows)


def test_numbers_of_numpy_are_numbers(rows, tmp_path):
    numbers = {
        "max_epochs": np.int64(2),
        "hidden_channels": np.int32(8),
        "degree": np.float32(3),
        "max_length": np.int8(3),
    }
    classifier = quick(**numbers, early_stopping=True, patience=np.int64(2), learning_rate=np.float64(0.1)).fit(*rows)
    save_estimator(classifier, tmp_path)
    assert load_estimator(tmp_path).predict(rows[0]).tolist() == classifier.predict(rows[0]).tolist()


def test_the_bar_names_the_score(rows, capsys):
    for early_stopping, label in ((False, "training score"), (True, "validation score")):
        quick(max_epochs=1, verbose=1, early_stopping=early_stopping).fit(*rows)
        assert label in capsys.readouterr().err


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_values(classifier, rows, bad):
    X = rows[0].copy()
    X[3, 2] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        quick().fit(X, rows[1])
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        classifier.predict(X)


def test_a_fit_that_fails_leaves_nothing_fitted(rows):
    X, y = rows
    classifier = quick().fit(X, y)
    with pytest.raises(LatopoError, match="edge_index"):
        classifier.fit(X, np.where(y, "b", "a"), edge_index=[["a"], ["b"]])
    with pytest.raises(NotFittedError):
        classifier.predict(X)
    assert classifier.fit(X, y).predict(X).shape == (60,)
    fresh = quick()
    with pytest.raises(LatopoError):
        fresh.fit(X, y, edge_index=[["a"], ["b"]])
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_a_mark_that_cannot_occur_is_refused(rows):
    X, y = rows
    with pytest.raises(LatopoError, match="unlabelled='-1' can be no entry of y, which holds numbers"):
        quick(unlabelled="-1").fit(X, y)
    with pytest.raises(LatopoError, match="unlabelled=-1 can be no entry of y, which holds texts"):
        quick(unlabelled=-1).fit(X, y.astype(str))


def test_rare_classes_keep_their_share_of_the_anchors():
    random = np.random.RandomState(0)
    y = np.array([0] * 194 + [1] * 6)
    X = random.randn(200, 3) + 6 * y[:, None]
    for seed in range(3):
        fitted = quick(max_anchors=30, random_state=seed).fit(X, y)
        assert y[fitted.anchor_rows_].sum() in (1, 2)


@pytest.mark.parametrize("name", ["mlp", "gcn", "dgm-e", "dcm", "dcm-all", "topk-dcm", "alpha-dgm", "dcm-judged"])
def test_any_system_of_the_catalogue(rows, name, tmp_path):
    X, y = rows
    ring = np.stack([np.arange(60), (np.arange(60) + 3) % 60])  # neighbours of the same class
    graph = ring if SYSTEMS[name].needs_graph else None
    fitted = quick(model=name, max_epochs=40, hidden_channels=16).fit(
        X[:45], y[:45], None if graph is None else graph[:, :42]
    )
    together = fitted.predict_proba(X[45:])
    assert (fitted.classes_[together.argmax(axis=1)] == y[45:]).mean() > 0.5
    alone = np.concatenate([fitted.predict_proba(X[at : at + 1]) for at in range(45, 60)])
    np.testing.assert_allclose(alone, together, atol=1e-9)
    save_estimator(fitted, tmp_path)
    np.testing.assert_array_equal(load_estimator(tmp_path).predict_proba(X[45:]), together)
    assert fitted.attachments(X[45:]).shape == (15, 45)


@pytest.mark.parametrize("graph", [False, True])
def test_branches_that_are_trained_apart(rows, graph, tmp_path):
    X, y = rows
    edges = np.stack([np.arange(42), np.arange(42) + 3]) if graph else None
    fitted = quick(model="dcm-fused", max_epochs=20, hidden_channels=8).fit(X[:45], y[:45], edges)
    together = fitted.predict_proba(X[45:])
    assert (fitted.classes_[together.argmax(axis=1)] == y[45:]).mean() > 0.5
    alone = np.concatenate([fitted.predict_proba(X[at : at + 1]) for at in range(45, 60)])
    np.testing.assert_allclose(alone, together, atol=1e-7)
    save_estimator(fitted, tmp_path)
    np.testing.assert_array_equal(load_estimator(tmp_path).predict_proba(X[45:]), together)
    np.testing.assert_allclose(fitted.attachments(X[45:]).sum(axis=1), 1, atol=1e-9)
    assert fitted.complex_.num_edges > 0


def test_several_rounds_of_messages_reach_a_query(rows, monkeypatch):
    X, y = rows
    system = SYSTEMS["dcm-plus"]
    monkeypatch.setitem(SYSTEMS, "dcm-plus", replace(system, settings=system.settings.change(rounds=3)))
    fitted = quick(max_epochs=20).fit(X, y)
    assert len(fitted._model.latent.messages.node_convs) == 3
    assert (fitted.predict(X) == y).mean() > 0.5


# Many rows


def many(count, seed=0):
    X = np.random.RandomState(seed).randn(count, 3)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_the_search_follows_the_number_of_rows():
    classifier = DCMClassifier()
    assert [classifier._search(rows) for rows in (10_000, 30_000, 30_001)] == ["exact", "certified", "approximate"]
    assert DCMClassifier(search="certified")._search(10) == "certified"


def test_a_searched_fit_answers_like_the_exact_one(capsys):
    X, y = many(600)
    exact = DCMClassifier(random_state=0, max_epochs=3, search="exact").fit(X, y)
    found = DCMClassifier(random_state=0, max_epochs=3, search="certified", verbose=1).fit(X, y)
    assert "neighbours: certified" in capsys.readouterr().err
    np.testing.assert_allclose(
        found.predict_proba(X[:50]), exact.predict_proba(X[:50]), atol=0.01
    )  # 512 of 599 columns
    together, alone = found.predict_proba(X[:20]), np.concatenate([found.predict_proba(row[None]) for row in X[:20]])
    np.testing.assert_allclose(together, alone, atol=1e-9)


def test_an_approximate_fit_answers_queries_one_by_one():
    X, y = many(2000)
    fitted = DCMClassifier(random_state=0, max_epochs=2, search="approximate").fit(X, y)
    assert fitted._model.search_report().method == "approximate"
    together, alone = fitted.predict_proba(X[:9]), np.concatenate([fitted.predict_proba(row[None]) for row in X[:9]])
    np.testing.assert_allclose(together, alone, atol=1e-9)


def test_beyond_the_limit_a_part_is_fitted_and_said(monkeypatch, capsys):
    monkeypatch.setattr("latopo.estimators.base._MOST_ANCHORS", 40)
    X, y = many(90)
    fitted = DCMClassifier(random_state=0, max_epochs=2, verbose=1).fit(X, y)
    assert "90 rows: a random 40 of them are fitted (max_anchors)" in capsys.readouterr().err
    assert fitted.complex_.num_nodes == 40
    assert len(fitted.transduction_) == 90
    assert DCMClassifier(random_state=0, max_epochs=2, max_anchors=None).fit(X, y).complex_.num_nodes == 90


def test_queries_that_choose_too_many_anchors_are_halved(monkeypatch):
    X, y = many(60)
    fitted = DCMClassifier(random_state=0, max_epochs=2).fit(X, y)
    before = fitted.predict_proba(X)
    monkeypatch.setattr("latopo.nn.samplers._JOINED", 10)
    np.testing.assert_allclose(fitted.predict_proba(X), before, atol=1e-12)
