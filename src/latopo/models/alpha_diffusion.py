"""Few labels: the recipe of :mod:`latopo.semi` as a model, which solves for its weights instead of stepping."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.models.arrays import as_array
from latopo.models.model import Model, ModelOutput, Targets, TrainPart
from latopo.nn.checks import check_features
from latopo.nn.polygon_inference import LatentPolygons
from latopo.nn.query_neighborhoods import QueryCells
from latopo.semi import FewLabels, learn
from latopo.semi.latent_complex import latent_complex
from latopo.semi.storage import from_tensors, to_tensors
from latopo.settings import Settings

__all__ = ["AlphaDiffusion", "DiffusionSettings"]

_SMALLEST = 1e-12


@dataclass(frozen=True)
class DiffusionSettings(Settings):
    """The recipe for few labels.

    Attributes:
        degree: neighbours per row on average; None: 30 for words, 20 for numbers.
        max_length: longest polygon of the complex that is shown; the answers do not depend on polygons.
        polygon_share: share of the candidate cycles that become polygons.
        candidate_budget: most candidates.
    """

    degree: int | None = field(default=None, metadata={"at_least": 1})
    max_length: int = field(default=4, metadata={"at_least": 0})
    polygon_share: float = field(default=0.5, metadata={"above": 0, "at_most": 1})
    candidate_budget: int = field(default=50_000, metadata={"at_least": 1})


class AlphaDiffusion(Model):
    """Diffusion over the α-entmax graph of the input, linear heads, self-training, fusion (:mod:`latopo.semi`).

    Nothing is trained by Adam: :meth:`solve` fits everything from the labels and all rows.

    Shapes:
        - **x**: [N, in_channels], dense or sparse CSR, unscaled
        - **output**: :class:`~latopo.models.ModelOutput` with log-probabilities [N, out_channels], or values [N, 1]

    Example:
        >>> from latopo.training import train
        >>> x = torch.cat([torch.randn(40, 2) - 3, torch.randn(40, 2) + 3])
        >>> y, few = torch.arange(80) // 40, torch.tensor([0, 1, 40, 41])
        >>> model = AlphaDiffusion(2, 2)
        >>> result = train(model, x, y, None, few, few, num_classes=2)
        >>> int((result.best_output.prediction.argmax(1) == y).sum())
        80
    """

    default = DiffusionSettings()
    uses_graph = False
    solves = True

    def __init__(
        self, in_channels: int, out_channels: int, settings: DiffusionSettings | None = None, **changes: Any
    ) -> None:
        super().__init__(in_channels, out_channels, settings, **changes)
        self.recipe: FewLabels | None = None
        self._complex: CellComplex | None = None
        self._polygons: LatentPolygons | None = None

    @property
    def feature_channels(self) -> int:
        """Width of the answer: there is nothing behind it."""
        return self.out_channels

    def solve(
        self, x: Tensor, edge_index: Tensor | None, targets: Targets, held_out: Tensor | None, train_part: TrainPart
    ) -> float:
        """Fit everything; the task's loss on the training rows. A given graph is not heard."""
        check_features("AlphaDiffusion", x, self.in_channels)
        labelled = targets.train_index.cpu().numpy()
        learned = learn(
            as_array(x), targets.target.cpu().numpy(), labelled, targets.num_classes,
            held_out=None if held_out is None else held_out.cpu().numpy(), degree=self.settings.degree,
        )  # fmt: skip
        self.recipe = learned.model
        # To look at: no answer depends on polygons.
        options = self.settings.max_length, self.settings.polygon_share, self.settings.candidate_budget
        self._complex, self._polygons = latent_complex(learned.space.graph, learned.rows.raw, *options)
        return targets.loss(self._prediction(learned.model.answer, x), targets.train_index).item()

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> ModelOutput:
        """The answer for the rows that it was fitted on, whose number x must have; :meth:`join` is for others."""
        recipe = self._fitted_recipe()
        if x.size(0) != len(recipe.answer):
            raise LatopoError(
                f"AlphaDiffusion: fitted on {len(recipe.answer)} rows, got {x.size(0)}; new rows go to join(x, None)"
            )
        prediction = self._prediction(recipe.answer, x)
        return ModelOutput(prediction, prediction, self._complex, None, self._polygons)

    @torch.no_grad()
    def join(self, x: Tensor, fitted: Any) -> ModelOutput:
        """Predict new rows [Q, in_channels], each on its own; the fitted state is the model's."""
        check_features("AlphaDiffusion", x, self.in_channels)
        answer, rows = self._fitted_recipe().join(as_array(x))
        rows.sort_indices()
        prediction = self._prediction(answer, x)
        ptr, anchor = (torch.from_numpy(part.astype(np.int64)) for part in (rows.indptr, rows.indices))
        prob = torch.from_numpy(rows.data)
        return ModelOutput(prediction, prediction, query=QueryCells(ptr, anchor, prob, prob, []))

    def _prediction(self, answer: NDArray[Any], x: Tensor) -> Tensor:
        values = np.log(np.maximum(answer, _SMALLEST)) if self._fitted_recipe().num_classes else answer
        return torch.from_numpy(np.ascontiguousarray(values)).to(x.device, x.dtype)

    def _fitted_recipe(self) -> FewLabels:
        if self.recipe is None:
            raise LatopoError("AlphaDiffusion: not fitted; call latopo.training.train first")
        return self.recipe

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The fitted recipe as tensors; nothing before the fit."""
        return {} if self.recipe is None else to_tensors(self.recipe)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Take over a fitted recipe."""
        self.recipe = from_tensors(state_dict) if state_dict else None
