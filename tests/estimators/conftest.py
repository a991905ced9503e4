import numpy as np
import pytest
import torch

from latopo.estimators import DCMClassifier


@pytest.fixture(scope="session")
def rows():
    """Three blobs in four dimensions: features, class numbers."""
    random = np.random.RandomState(0)
    y = np.arange(60) % 3
    return random.randn(60, 4) + 2.5 * np.eye(3, 4)[y], y


@pytest.fixture(scope="session")
def classifier(rows):
    X, y = rows
    return DCMClassifier(random_state=0, max_epochs=12, degree=4.0).fit(X, y)


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
