import pytest

from latopo.data import find_dataset, list_datasets
from latopo.data.checksums import known_checksums, verify
from latopo.errors import LatopoError

EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_every_raw_file_has_a_checksum_and_no_other():
    entries = [find_dataset(name) for name in list_datasets()]
    files = {file for entry in entries for file in (*entry.raw_files, *entry.split_files)}
    assert files == set(known_checksums())
    assert all(len(digest) == 64 for digest in known_checksums().values())


def test_verify(monkeypatch, tmp_path):
    monkeypatch.setattr("latopo.data.checksums.known_checksums", lambda: {"file": EMPTY_SHA256})
    (tmp_path / "file").write_bytes(b"")
    verify(tmp_path, ("file",))
    (tmp_path / "file").write_bytes(b"other")
    with pytest.raises(LatopoError, match=f"file is damaged.*{EMPTY_SHA256}.*replace the file"):
        verify(tmp_path, ("file",))


@pytest.mark.parametrize("name", ["cora", "texas", "chameleon-filtered"])
def test_real_files_are_the_known_ones(real, name):
    verify(real(name), find_dataset(name).raw_files)
