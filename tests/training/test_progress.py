import io

from rich.console import Console

from latopo.training.progress import TrainingProgress


def show(terminal):
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=150)
    with TrainingProgress(total=3, done=1, console=console) as progress:
        on_epoch = progress.start("fold 1", epochs=2)
        on_epoch({"loss": 0.25, "selection_score": 0.5, "num_polygons": 7})
        on_epoch({"loss": 0.125, "selection_score": None, "num_polygons": None})
        progress._bars.refresh()
        progress.finish("fold 1: [done]")
        progress.start("fold 2", epochs=2)
    return text.getvalue()


def test_plain_lines_without_a_terminal():
    assert show(terminal=False) == "fold 1: [done]\n"


def test_bars_on_a_terminal_keep_the_last_evaluation():
    text = show(terminal=True)
    assert "fold 1: [done]" in text
    assert "loss 0.125 score 0.500 polygons 7" in text
    assert "2/3" in text
