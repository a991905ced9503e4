"""The search of the weight decay: all start, the best goes on."""

from collections.abc import Mapping

from latopo.training.loop import OnEpoch, Trainer

__all__ = ["search_decay"]


def search_decay(
    trainers: Mapping[float, Trainer], first_rung: int, on_epoch: OnEpoch | None = None
) -> tuple[float, dict[float, float]]:
    """Train every weight decay for the first rung; the best one, which is to go on, and the scores of all.

    Of equal scores the lower loss wins, then the decay that comes first. One decay alone is not trained: there is
    nothing to search, and no score.
    """
    search: dict[float, float] = {}
    if len(trainers) > 1:
        for decay, trainer in trainers.items():
            trainer.advance(first_rung, on_epoch)
            search[decay] = trainer.result().best_score
    best = max(trainers, key=lambda decay: (search[decay], -trainers[decay].result().best_loss) if search else ())
    return best, search
