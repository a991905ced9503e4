import pytest

from latopo.errors import LatopoError
from latopo.models.settings import Entmax, Latent, NetSettings, Own, SeparateGiven, TopK, Weighing


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"latent": None}, "latent, own and given are all null"),
        ({"latent_dropout": 0.5}, "latent_dropout needs the branch of the node's own features; add own=true"),
        ({"latent_dropout": 1.0, "own": True}, "latent_dropout must be a number of at least 0 and below 1, got 1.0"),
        ({"weighing": True}, "weighing needs the branches own and given to weigh"),
        ({"held_out": 0.1}, "held_out: there is no such setting here"),
        ({"own": True, "latent": None, "edge_form": "score"}, "edge_form=score rewards an inferred topology"),
        ({"hold_degree": True}, "hold_degree needs the degree to hold"),
        ({"sampler": "random"}, "sampler must be entmax or topk, got 'random'"),
        ({"relaxation": "hard"}, "relaxation must be none, weighted or straight_through, got 'hard'"),
        ({"dropout": "0.5"}, "dropout must be a number of at least 0 and below 1, got '0.5'"),
    ],
)
def test_combinations_that_make_no_sense(changes, message):
    with pytest.raises(LatopoError, match=message):
        NetSettings().change(**changes)


def test_the_degree_sets_the_gain_or_the_gain_is_named():
    assert Entmax().gain == 50.0
    assert Entmax(gain=None, degree=5).degree == 5.0
    with pytest.raises(LatopoError, match="one of them sets γ"):
        Entmax(degree=5.0)


def test_words_for_parts():
    net = NetSettings().change(sampler="topk", k=3, polygons="all", max_length=6, own=True, own_loss=True)
    assert net.latent.sampler == TopK(3)
    assert (net.latent.polygons.kind, net.latent.polygons.max_length) == ("all", 6)
    assert net.own == Own(own_loss=True)
    judged = net.change(given="separate", weighing=True, held_out=0.2)
    assert (judged.given, judged.weighing) == (SeparateGiven(), Weighing(0.2))
    assert judged.change(latent=None).latent is None
    assert judged.change(latent=None).change(latent=True, rounds=2).latent == Latent(rounds=2)
