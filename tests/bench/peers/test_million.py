import torch

from peers import million


def test_stages_from_points_to_polygons(monkeypatch):
    monkeypatch.setattr(million, "THREADS", torch.get_num_threads())
    found, recall = million.stages(5_000)
    assert list(found) == ["first", "later", "polygons"]
    assert recall >= 0.95
    assert "s of CPU time; " in found["first"].note
    assert "approximate" in found["first"].note
    assert "rows reused" in found["later"].note
    assert "polygons" in found["polygons"].note
    assert all(stage.seconds > 0 and stage.megabytes > 50 for stage in found.values())


def test_undirected_edges():
    ptr, col = torch.tensor([0, 2, 3, 4]), torch.tensor([1, 2, 0, 1])
    assert million.undirected(ptr, col).tolist() == [[0, 0, 1], [1, 2, 2]]


def test_rows_say_what_is_allowed(monkeypatch):
    stages = {name: million.Stage(30.0, 4096.0, "remark") for name in ("first", "later", "polygons")}
    monkeypatch.setattr(million, "in_process", lambda work: (stages, 0.96))
    rows = million.measure()
    assert [row.met for row in rows] == [True] * 5
    assert rows[0].note == "remark"
    assert rows[-1].theirs == 330.0
