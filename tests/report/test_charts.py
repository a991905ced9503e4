from latopo.report.charts import describe_charts

HISTORY = {"epoch": [1, 2, 3], "loss": [3.0, 2.0, 1.0], "task_loss": [3.0, 2.0, 1.0], "train_score": [None, 0.5, 1.0]}


def chart(charts, title):
    return next(item for item in charts if item["title"] == title)


def test_values_that_were_not_measured_are_left_out_and_shares_are_per_cent():
    [line] = chart(describe_charts([{"fold 0": HISTORY}]), "Score")["series"]
    assert (line["x"], line["y"]) == ([2, 3], [50.0, 100.0])


def test_r2_is_no_per_cent():
    score = chart(describe_charts([{"fold 0": HISTORY}], metric="r2"), "Score")
    assert score["series"][0]["y"] == [0.5, 1.0]
    assert not score["percent"]


def test_folds_are_faint_and_their_mean_is_bold():
    other = {"epoch": [1, 2], "loss": [1.0, 1.0]}
    lines = chart(describe_charts([{"fold 0": HISTORY, "fold 1": other}]), "Loss")["series"]
    assert [line["faint"] for line in lines] == [True, True, False]
    assert (lines[2]["name"], lines[2]["x"], lines[2]["y"]) == ("total, mean", [1, 2], [2.0, 1.5])


def test_a_second_run_is_dashed_and_named():
    lines = chart(describe_charts([{"fold 0": HISTORY}, {"fold 0": HISTORY}]), "Loss")["series"]
    assert [(line["name"], line["dash"]) for line in lines] == [("total, run A", False), ("total, run B", True)]


def test_the_parts_of_the_loss_are_shown_only_with_a_reward():
    rewarded = {**HISTORY, "loss": [3.1, 2.1, 1.1], "edge_loss": [0.1, 0.1, 0.1]}
    names = [line["name"] for line in chart(describe_charts([{"fold 0": rewarded}]), "Loss")["series"]]
    assert names == ["total", "predictions", "edges"]
    assert len(chart(describe_charts([{"fold 0": HISTORY}]), "Loss")["series"]) == 1


def test_no_line_is_drawn_twice():
    same = {**HISTORY, "selection_score": HISTORY["train_score"]}
    names = [line["name"] for line in chart(describe_charts([{"fold 0": same}]), "Score")["series"]]
    assert names == ["training points"]
    one_differs = {"fold 0": same, "fold 1": {**same, "selection_score": [None, 0.5, 0.5]}}
    names = {line["name"] for line in chart(describe_charts([one_differs]), "Score")["series"] if not line["faint"]}
    assert names == {"training points, mean", "selection points, mean"}


def test_one_epoch_is_no_curve():
    assert describe_charts([{"fit": {"epoch": [1], "loss": [0.5], "train_score": [1.0]}}]) == []


def test_nothing_measured_gives_no_chart():
    assert describe_charts([{"fold 0": {"epoch": [1], "loss": [None]}}]) == []
    assert describe_charts([{"fold 0": {"epoch": [1], "loss": [float("nan")]}}]) == []
    assert describe_charts([]) == []


def test_values_keep_five_digits():
    [line] = describe_charts([{"fit": {"epoch": [1, 2, 3, 4], "loss": [12.3456789, -1.23456789e-7, 0.0, 98765432]}}])[
        0
    ]["series"]
    assert line["y"] == [12.346, -1.2346e-7, 0.0, 98765000.0]
