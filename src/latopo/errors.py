"""The errors that a user can cause, each with what was expected, what came and what to do."""

__all__ = ["LatopoError", "TooManyCellsError", "TooManyStepsError", "one_line"]

_LONGEST, _LONGEST_WORD = 2000, 500  # characters


def one_line(text: str) -> str:
    """A text as one line that a terminal shows as it is: what stems from a file or an argument may hold anything.

    Example:
        >>> one_line("a\\nb  c \\x1b[31m")
        'a b c \\\\x1b[31m'
    """
    line = " ".join(word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}…" for word in text.split())
    if not line.isprintable():
        line = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in line)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 2]} …"


class LatopoError(ValueError):
    """Bad input or a limit reached: the message says what to do. The command line prints it and exits with code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


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

    def __reduce__(self) -> tuple[type["TooManyCellsError"], tuple[str, int, int]]:
        # By default an error is made again from its message alone, which a process that hands it over would notice.
        return type(self), (str(self), self.count, self.limit)


class TooManyStepsError(LatopoError):
    """A search takes more steps than the stated limit; it was stopped."""
