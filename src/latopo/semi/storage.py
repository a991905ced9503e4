"""A fitted recipe as named tensors, and back; nothing is pickled."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from latopo.semi.branches import Branch
from latopo.semi.fusion import Judgement
from latopo.semi.metric import Metric, Mixture, Numbers, Words
from latopo.semi.recipe import FewLabels
from latopo.semi.space import FittedSpace

__all__ = [
    "array_tensors",
    "from_tensors",
    "metric_tensors",
    "read_array",
    "read_metric",
    "read_space",
    "space_tensors",
    "to_tensors",
]

_KINDS: dict[str, type[Words | Numbers]] = {"words": Words, "numbers": Numbers}
_SPACE = ("gain", "degree", "scale")


def to_tensors(model: FewLabels) -> dict[str, Tensor]:
    """Everything that new rows need, by name.

    Example:
        >>> from latopo.semi import learn
        >>> x = np.random.RandomState(0).randn(40, 2)
        >>> model = learn(x, (x[:, 0] > 0).astype(int), np.arange(20), 2).model
        >>> again = from_tensors(to_tensors(model))
        >>> bool((again.join(x)[0] == model.join(x)[0]).all())
        True
    """
    found = {"num_classes": torch.tensor(model.num_classes)}
    found |= metric_tensors(model.metric)
    for name, space in model.spaces.items():
        found |= space_tensors(name, space)
    found |= array_tensors("spread", model.spread) | array_tensors("answer", model.answer)
    for branch, weight in model.weights.items():
        judged = model.judged.get(branch)
        numbers = [weight] if judged is None else [weight, *judged]
        found[f"branch.{branch.name}"] = torch.tensor(numbers, dtype=torch.float64)
        if branch in model.heads:
            found |= array_tensors(f"head.{branch.name}", model.heads[branch])
    return found


def from_tensors(tensors: Mapping[str, Tensor]) -> FewLabels:
    """The recipe that :func:`to_tensors` took apart.

    Raises:
        KeyError: a part is missing.
    """
    metric = read_metric(tensors)
    names = sorted({name.split(".")[1] for name in tensors if name.startswith("space.")})
    spaces = {name: read_space(name, metric, tensors) for name in names}
    weights, judged, heads = {}, {}, {}
    for name in (name.removeprefix("branch.") for name in tensors if name.startswith("branch.")):
        branch, numbers = Branch.parse(name), tensors[f"branch.{name}"].tolist()
        weights[branch] = numbers[0]
        if len(numbers) > 1:
            judged[branch] = Judgement(*numbers[1:])
        if f"head.{name}" in tensors:
            heads[branch] = read_array(f"head.{name}", tensors)
    classes, spread, answer = int(tensors["num_classes"]), read_array("spread", tensors), read_array("answer", tensors)
    return FewLabels(metric, classes, spaces, spread, heads, judged, weights, answer)


def metric_tensors(metric: Metric) -> dict[str, Tensor]:
    """A metric by the name of its kind."""
    return _metric_tensors(f"metric.{metric.kind}", metric)


def read_metric(tensors: Mapping[str, Tensor]) -> Metric:
    """The metric that :func:`metric_tensors` took apart."""
    kind = next((name.split(".")[1] for name in tensors if name.startswith("metric.")), "metric")
    return _metric(f"metric.{kind}", kind, tensors)


def space_tensors(name: str, space: FittedSpace) -> dict[str, Tensor]:
    """A space, by its name."""
    found = array_tensors(f"space.{name}.points", space.points)
    found |= {f"space.{name}.{part}": torch.tensor(float(getattr(space, part)), dtype=torch.float64) for part in _SPACE}
    for part in ("diffused", "center", "stretch"):
        if getattr(space, part) is not None:
            found |= array_tensors(f"space.{name}.{part}", getattr(space, part))
    return found


def read_space(name: str, metric: Metric, tensors: Mapping[str, Tensor]) -> FittedSpace:
    """The space that :func:`space_tensors` took apart."""
    gain, degree, scale = (float(tensors[f"space.{name}.{part}"]) for part in _SPACE)
    points, diffused, center = (
        read_array(f"space.{name}.{part}", tensors) for part in ("points", "diffused", "center")
    )
    stretch = read_array(f"space.{name}.stretch", tensors) if f"space.{name}.stretch" in tensors else None
    return FittedSpace(points, metric.similarity, gain, int(degree), diffused, center, scale, stretch)


def array_tensors(name: str, value: Any) -> dict[str, Tensor]:
    """An array as one tensor, a sparse one as four."""
    if not sparse.issparse(value):
        return {name: torch.from_numpy(np.ascontiguousarray(value))}
    parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr, "shape": np.array(value.shape)}
    return {f"{name}.{part}": torch.from_numpy(np.ascontiguousarray(array)) for part, array in parts.items()}


def read_array(name: str, tensors: Mapping[str, Tensor]) -> Any:
    """The array that :func:`array_tensors` took apart."""
    if f"{name}.shape" not in tensors:
        return tensors[name].numpy()
    data, indices, indptr = (tensors[f"{name}.{part}"].numpy() for part in ("data", "indices", "indptr"))
    return sparse.csr_array((data, indices, indptr), shape=tuple(tensors[f"{name}.shape"].tolist()))


def _metric_tensors(name: str, metric: Metric) -> dict[str, Tensor]:
    if isinstance(metric, Mixture):
        parts = _metric_tensors(f"{name}.words", metric.words) | _metric_tensors(f"{name}.numbers", metric.numbers)
        return parts | array_tensors(f"{name}.is_word", metric.is_word) | array_tensors(f"{name}.scale", metric.scale)
    return {
        key: tensor
        for part, value in vars(metric).items()
        for key, tensor in array_tensors(f"{name}.{part}", value).items()
    }


def _metric(name: str, kind: str, tensors: Mapping[str, Tensor]) -> Metric:
    if kind == "mixture":
        words, numbers = (_metric(f"{name}.{part}", part, tensors) for part in ("words", "numbers"))
        assert isinstance(words, Words)
        assert isinstance(numbers, Numbers)
        return Mixture(read_array(f"{name}.is_word", tensors), words, numbers, read_array(f"{name}.scale", tensors))
    cls = _KINDS[kind]
    return cls(*(read_array(f"{name}.{part}", tensors) for part in (item.name for item in fields(cls))))
