import pickle

from latopo.errors import LatopoError, TooManyCellsError


def test_errors_are_value_errors_and_carry_their_counts():
    error = TooManyCellsError("7 cells, more than 5", 7, 5)
    assert isinstance(error, LatopoError)
    assert isinstance(error, ValueError)
    assert (str(error), error.count, error.limit) == ("7 cells, more than 5", 7, 5)


def test_a_plain_error_comes_back_from_a_worker():
    assert str(pickle.loads(pickle.dumps(LatopoError("why")))) == "why"


def test_a_message_is_one_line_that_a_terminal_shows_as_it_is():
    assert str(LatopoError("a\nb \x1b[31m\u200b é")) == "a b \\x1b[31m\\u200b é"
    assert len(str(LatopoError("x " * 10**6))) == 2000
    assert str(LatopoError(f"--out {'x' * 10**6}: too long")) == f"--out {'x' * 500}… too long"


def test_counts_come_back_from_a_worker():
    assert pickle.loads(pickle.dumps(TooManyCellsError("why", 7, 5))).count == 7
