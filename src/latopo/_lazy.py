"""Names of a package that are loaded on first use, so that importing the package does not wait for all of it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy"]


def lazy(package: str, modules: Mapping[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: its name.
        modules: module within the package → the public names that it defines.

    Example:
        >>> load, names = lazy("latopo", {"errors": ("LatopoError",)})
        >>> load("LatopoError").__name__, names()
        ('LatopoError', ['LatopoError'])
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load, lambda: sorted(homes)
