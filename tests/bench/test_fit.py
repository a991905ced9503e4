from latopo.bench import fit


def test_fit_quick():
    (row,) = fit.measure(quick=True)
    assert min(row.ours, row.theirs) > 0
    assert "CPU time" in row.note
