from latopo import CellComplex


def test_summary_of_the_house(house: CellComplex) -> None:
    assert house.summary() == {
        "nodes": 6,
        "edges": 6,
        "polygons": {3: 1, 4: 1},
        "mean_degree": 2.0,
        "max_degree": 3,
        "isolated_nodes": 1,
        "euler_characteristic": 2,
        "betti_numbers": (2, 0, 0),
    }


def test_summary_of_nothing(empty: CellComplex) -> None:
    assert empty.summary() == {
        "nodes": 0,
        "edges": 0,
        "polygons": {},
        "mean_degree": 0.0,
        "max_degree": 0,
        "isolated_nodes": 0,
        "euler_characteristic": 0,
        "betti_numbers": (0, 0, 0),
    }
