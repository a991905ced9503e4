"""The errors that a user can cause, each with what was expected, what came and what to do."""


class LatopoError(ValueError):
    """Bad input or a limit reached: the message says what to do. The command line prints it and exits with code 2."""


class TooManyCellsError(LatopoError):
    """More edges or polygons than the stated limit; nothing of that size was allocated.

    Attributes:
        count: how many cells there would be.
        limit: how many were allowed.
    """

    def __init__(self, message: str, count: int, limit: int) -> None:
        super().__init__(message)
        self.count = count
        self.limit = limit


class TooManyStepsError(LatopoError):
    """A search takes more steps than the stated limit; it was stopped."""
