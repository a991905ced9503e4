from peers import epoch


def test_epoch_quick():
    (row,) = epoch.measure(quick=True)
    assert min(row.ours, row.theirs) > 0
    assert "CPU time" in row.note
