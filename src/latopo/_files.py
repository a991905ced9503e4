"""Files and folders that are written whole or not at all, whatever stops the writer.

What is being written is a *draft*: a hidden neighbour of its target, locked by the process that writes it. A draft that
nobody locks any more is the leftover of a process that was killed; the next writer in that place removes it.

A single file, and a folder that is new, appear by one rename. Files that belong together and replace others take two
steps. One rename turns the complete draft into ``.latopo-ready``: from then on the new files count. Then they are moved
into place, one by one. Whoever finds ``.latopo-ready`` finishes that move first (:func:`recover`), so a folder never
shows a mixture, and nothing is lost at whatever moment the process, the disk or the machine fails.
"""

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from latopo._stored import read_json
from latopo.errors import LatopoError

__all__ = [
    "atomic_path", "check_folder", "check_output", "is_draft", "new_folder", "recover", "replaced_files", "write_files",
]  # fmt: skip

AnyPath = str | os.PathLike[str]

# What makes a folder a saved run or model, and what may not be written over in such a folder.
_RUN_MARKS = ("run.json", "settings.json", "records.jsonl", "estimator.json", "model.json", "fold.json")
_RUN_FILES = {*_RUN_MARKS, "metrics.json", "points.json", "anchors.json", "history.json", "preprocessing.json"}
_RUN_FILES |= {"summary.json", "edges.csv", "polygons.csv", "metrics.csv", "predictions.csv", "complex.png"}
_RUN_FILES.add("predictor.json")
_READY = ".latopo-ready"
_STALE = "stale.json"  # in a draft: the files of the folder that the new ones do not replace


def check_output(path: AnyPath, what: str = "--out", *, source: AnyPath | None = None) -> None:
    """Raise if a file may not be written there: a folder, a device, a pipe, a file of a saved run, or the ``source``.

    Example:
        >>> check_output("/dev/null")
        Traceback (most recent call last):
        latopo.errors.LatopoError: --out /dev/null is a device, a pipe or a socket; name a regular file
    """
    target = Path(path)
    if target.is_dir():
        raise LatopoError(f"{what} {target} is a folder; name a file such as {target / 'file'}")
    if _is_special(target):
        raise LatopoError(f"{what} {target} is a device, a pipe or a socket; name a regular file")
    if source is not None and target.exists() and Path(source).exists() and target.samefile(source):
        raise LatopoError(f"{what} {target} is the file that is read; choose another name")
    place = _real(target).parent
    if target.name in _RUN_FILES or (place / target.name).suffix in (".safetensors", ".jsonl"):
        mark = next((name for name in _RUN_MARKS if (place / name).exists()), None)
        if mark is not None:
            raise LatopoError(f"{what} {target} is a file of the run in {place}; choose another name")


def check_folder(path: AnyPath, what: str = "--out") -> None:
    """Raise if there is no folder and none can be made: a file, or a place below one, or among the devices.

    Example:
        >>> check_folder("/dev/null/results")
        Traceback (most recent call last):
        latopo.errors.LatopoError: --out /dev/null/results is not a folder, and none can be made there; choose another
    """
    target = Path(path).absolute()
    there = next(place for place in (target, *target.parents) if place.exists())
    if not there.is_dir() or _is_special(target / "file"):
        raise LatopoError(f"{what} {path} is not a folder, and none can be made there; choose another")


@contextmanager
def atomic_path(path: AnyPath) -> Iterator[Path]:
    """Give a temporary path to write to; it becomes ``path`` only if the block ends without an error.

    Parallel workers may write the same file: the last one wins, and a reader never sees half a file, also after a crash
    of the machine.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "answer.txt"
        >>> with atomic_path(target) as draft:
        ...     _ = draft.write_text("42")
        >>> target.read_text()
        '42'
    """
    target = Path(path)
    if _is_special(target):
        raise LatopoError(f"{target} is not a regular file, and is not replaced by one; choose another name")
    _sweep(target.parent, f".{target.name}.")
    # Not tempfile's: its files can be read by their owner alone, and a folder may be shared.
    prefix = f".{target.name}."
    with _blaming(target, target.with_name(prefix)), _locked(target.parent, prefix, _new_file) as draft:
        try:
            yield draft
            _sync(draft)
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)


def is_draft(path: AnyPath) -> bool:
    """Whether a path is named like a draft: a folder that holds nothing else is empty to its user.

    Example:
        >>> is_draft(f".settings.json.{uuid4().hex}"), is_draft(f".latopo-{uuid4().hex}"), is_draft(".notes")
        (True, True, False)
    """
    return re.fullmatch(r"\.(.+\.|latopo-)[0-9a-f]{32}", Path(path).name) is not None


def _real(path: Path) -> Path:
    """The path without links; unlike ``resolve`` it has an answer for links in a circle."""
    return Path(os.path.realpath(path))


def _is_special(path: Path) -> bool:
    """Whether a file there is not an ordinary one; /dev/stdout is not, even where output is redirected to a file."""
    places = {path.absolute().parent, _real(path).parent}
    return (path.exists() and not path.is_file()) or any(
        str(place) in ("/dev", "/dev/fd") or place.is_relative_to("/proc") for place in places
    )


@contextmanager
def new_folder(path: AnyPath) -> Iterator[Path]:
    """Give a temporary folder to write to; it becomes ``path``, which is not there yet, if the block ends well."""
    target = Path(path)
    with _draft_folder(target.parent) as draft, _blaming(target, draft):
        yield draft
        recover(draft)  # a writer inside it may have met an error while it cleaned up
        _sync_all(draft)
        os.rename(draft, target)


@contextmanager
def replaced_files(folder: AnyPath, own: Collection[str]) -> Iterator[Path]:
    """Give a temporary folder; its files replace those of ``folder`` that are named in ``own``, all of them or none.

    Args:
        folder: made if it is missing; other files in it stay.
        own: names of files of which nothing is to be left, whether the new ones have them or not.
    """
    target = Path(folder)
    if not target.is_dir():
        with new_folder(target) as draft:
            yield draft
        return
    # Inside the folder: files then move within one file system, whatever is mounted there.
    with _draft_folder(target) as draft, _blaming(target, draft):
        yield draft
        recover(target)
        stale = [name for name in own if os.path.lexists(target / name) and not (draft / name).exists()]
        (draft / _STALE).write_text(json.dumps(stale))
        _sync_all(draft)
        try:
            os.rename(draft, target / _READY)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            raise LatopoError(f"{target} was replaced by another process at the same time; try again") from error
        recover(target)


def write_files(folder: AnyPath, files: dict[str, bytes]) -> None:
    """Write files that belong together, all of them or none; other files in the folder stay.

    Safetensors' own file writing is no choice: its files can be read by their owner alone.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> write_files(folder, {"question": b"6 * 9", "answer": b"42"})
        >>> (folder / "answer").read_bytes()
        b'42'
    """
    with replaced_files(folder, files) as draft:
        for name, content in files.items():
            (draft / name).write_bytes(content)


def recover(folder: AnyPath) -> None:
    """Finish a replacement of files whose writer was stopped, if there is one; every reader of a folder begins so."""
    target, ready = Path(folder), Path(folder) / _READY
    if ready.is_symlink() or not ready.is_dir():
        return
    try:
        for name in _stale_names(ready / _STALE):
            (target / name).unlink(missing_ok=True)
        for path in sorted(ready.iterdir()):
            # Another process may finish the same move at the same time.
            if path.name != _STALE and not path.is_symlink() and path.is_file():
                with suppress(FileNotFoundError):
                    os.replace(path, target / path.name)
        _sync(target)
        while ready.is_dir():
            with suppress(FileNotFoundError):  # gone already: another process removes it, too
                shutil.rmtree(ready)
    except OSError as error:
        if not os.path.lexists(ready):
            return  # another process has finished the move
        raise LatopoError(
            f"{target}: its new files are complete, but {_READY} in it could not be emptied and removed "
            f"({error.strerror}); the next command that can write there goes on with it"
        ) from error


def _stale_names(path: Path) -> list[str]:
    # The folder may be a stranger's: nothing outside of it is touched.
    try:
        names = [] if path.is_symlink() else read_json(path, [str])
    except LatopoError:
        return []
    return [name for name in names if re.fullmatch(r"\w[\w.-]*", name)]


@contextmanager
def _draft_folder(place: Path) -> Iterator[Path]:
    place.mkdir(parents=True, exist_ok=True)
    _sweep(place, ".latopo-")
    with _locked(place, ".latopo-", _new_folder) as draft:
        try:
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _blaming(target: Path, draft: Path) -> Iterator[None]:
    """Errors name the target: a full disk has no file name, and a draft's name says nothing."""
    try:
        yield
    except OSError as error:
        if error.errno is None or not (error.filename is None or str(error.filename).startswith(str(draft))):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error


def _new_file(path: Path) -> int:
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)


def _new_folder(path: Path) -> int:
    path.mkdir()
    return os.open(path, os.O_RDONLY)


@contextmanager
def _locked(place: Path, prefix: str, create: Callable[[Path], int]) -> Iterator[Path]:
    """A new draft, and its lock, which says that its process is there.

    In the moment before it is locked another process may take it for a leftover and remove it: then another is made.
    """
    draft = place / f"{prefix}{uuid4().hex}"
    descriptor = create(draft)
    try:
        _lock(descriptor, wait=True)
        if draft.exists():
            yield draft
            return
    finally:
        os.close(descriptor)
    with _locked(place, prefix, create) as other:
        yield other


def _lock(descriptor: int, wait: bool = False) -> bool:
    """Whether nobody else holds the lock; it ends with the process."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # Windows; a file system without locks; somebody has it
        return False
    return True


def _sweep(place: Path, prefix: str) -> None:
    """Remove the drafts of processes that are gone; whatever cannot be removed stays."""
    with suppress(OSError):
        for path in list(place.iterdir()) if place.is_dir() else []:
            if re.fullmatch(re.escape(prefix) + "[0-9a-f]{32}", path.name) and not path.is_symlink():
                with suppress(OSError):
                    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                    try:
                        if _lock(descriptor):
                            shutil.rmtree(path) if path.is_dir() else path.unlink()
                    finally:
                        os.close(descriptor)


def _sync_all(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        _sync(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
