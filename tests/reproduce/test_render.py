import csv
import io
import re
from dataclasses import replace

import pytest

from latopo.reproduce import build_table, paper_numbers, write_table
from latopo.reproduce.experiments import EXPERIMENTS
from latopo.reproduce.render import latex, markdown


def written(table, folder, ending):
    write_table(table, folder)
    return (folder / f"{table.experiment.name}{ending}").read_text(encoding="utf-8")


def lines_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def records(make_record):
    complete = [
        make_record(0.5 + 0.05 * (fold % 2), model="dcm-plus", fold=fold, seed=seed)
        for fold in range(10)
        for seed in range(3)
    ]
    partial = [make_record(0.4 + 0.1 * fold, model="mlp", fold=fold) for fold in range(3)]
    return [*complete, *partial, make_record(0.75, model="dcm", protocol="paper")]


def test_markdown_cells(records):
    text = markdown(build_table("table2", records, ["texas", "squirrel"]))
    lines = text.splitlines()
    assert "| graph | model | protocol | Texas | Squirrel |" in lines
    assert "| without | dcm-plus | honest | 52.50 ± 2.64 (10 folds, 3 seeds) | – |" in lines
    assert "| without | mlp | honest | 50.00 ± 10.00 (3/10 folds, 1/3 seeds), Δ −27.78 | – |" in lines
    assert "| without | mlp | (printed in the paper) | 77.78 ± 10.24 | 30.44 ± 2.55 |" in lines
    assert "| without | dcm | paper | 75.00 (1/10 folds, 1/3 seeds), Δ −10.71 | – |" in lines
    assert "| without | dcm | honest | – | – |" in lines
    assert not any("dcm-plus | (printed" in line for line in lines)
    assert any(
        line.startswith("| without | dcm-plus | mlp | honest | +1.67, p = 1.000 (3 folds) | – |") for line in lines
    )


def test_an_additional_protocol_is_shown_where_it_was_run(records, make_record):
    runs = [*records, *(make_record(0.6, model=model, protocol="patient") for model in ("mlp", "dcm-plus"))]
    lines = markdown(build_table("table2", runs, ["texas"], protocols=["honest", "paper", "patient"])).splitlines()
    assert "| without | mlp | patient | 60.00 (1/10 folds, 1/3 seeds), Δ −17.78 |" in lines
    assert [line for line in lines if "| patient |" in line and "–" in line] == []
    assert any(line.startswith("| without | dcm-plus | mlp | patient |") for line in lines)
    assert "Protocol patient: as honest" in "".join(lines)


def test_every_markdown_line_of_a_table_has_the_same_width(records):
    for name in EXPERIMENTS:
        text = markdown(build_table(name, records))
        for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
            assert len({line.count("|") for line in block.splitlines()}) == 1


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_printed_number_is_in_every_format(name, tmp_path):
    table = build_table(name, [])
    printed = [number.printed for number in paper_numbers(name)]
    in_csv, in_markdown, in_latex = written(table, tmp_path, ".csv"), markdown(table), latex(table)
    for text in printed:
        assert text in in_markdown
        assert text.replace("±", r"$\pm$") in in_latex
        assert text in in_csv


def test_contradicted_numbers_are_marked():
    assert "95.78 ± 0.49 †" in markdown(build_table("table1", []))
    assert "94.81 ± 0.49 †" in markdown(build_table("sampling", []))
    assert r"94.81 $\pm$ 0.49 \dag{}" in latex(build_table("sampling", []))
    assert "85.71 ± 7.87 †" not in markdown(build_table("table2", []))


def test_latex_is_escaped_and_balanced(records):
    table = replace(build_table("depth", records), notes=(r"100% of a_b & c{d} \ ~ ^ # $ <",))
    text = latex(table)
    assert r"100\% of a\_b \& c\{d\} \textbackslash{} \textasciitilde{} \textasciicircum{} \# \$ $<$" in text
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count(" & ") for line in body} == {11}
    assert r"dcm, rounds = 2" in text
    assert text.isascii()


def test_all_latex_is_ascii(records):
    for name in EXPERIMENTS:
        assert latex(build_table(name, records)).isascii()


def test_markdown_is_escaped(records):
    table = replace(build_table("depth", records, ["texas"]), notes=("a|b *c* _d_ `e`\n# f <g>",))
    assert r"- a\|b \*c\* \_d\_ \`e\` \# f \<g\>" in markdown(table)


def test_variable_is_named_in_the_row():
    assert "| without | dcm, max\\_length = 5 | honest |" in markdown(build_table("cycle-length", [], ["cora"]))


def test_csv_is_exact_and_complete(records, tmp_path):
    table = build_table("table2", records)
    lines = lines_of(written(table, tmp_path, ".csv"))
    assert len(lines) == (21 * 2 + 7) * 4  # rows, protocols (rows that are fused late have one); data sets
    place = {"dataset": "texas", "graph": "without", "model": "mlp", "protocol": "honest"}
    (line,) = [line for line in lines if line.items() >= place.items()]
    assert float(line["ours_mean"]) == table.cells.ours_mean[0]
    assert float(line["difference"]) == pytest.approx(50.0 - 77.78)
    counts = {"folds": "3", "expected_folds": "10", "least_seeds": "1", "most_seeds": "1", "expected_seeds": "3"}
    assert line.items() >= {**counts, "paper_mean": "77.78", "paper_std": "10.24"}.items()
    (missing,) = [line for line in lines if line.items() >= {**place, "dataset": "squirrel"}.items()]
    assert (missing["ours_mean"], missing["folds"], missing["difference"]) == ("", "0", "")


def test_csv_of_folds_and_tests(records, tmp_path):
    table = build_table("table2", records, ["texas"])
    folds = [line for line in lines_of(written(table, tmp_path, "-folds.csv")) if line["model"] == "mlp"]
    assert [(line["fold"], float(line["score"])) for line in folds] == [
        ("0", 40.0), ("1", pytest.approx(50.0)), ("2", pytest.approx(60.0)),
    ]  # fmt: skip
    tests = lines_of(written(table, tmp_path, "-tests.csv"))
    # dcm-plus without and with graph, dcm-judged with one; protocols. dcm-fused without and with graph; one protocol.
    assert len(tests) == (3 + 4 + 4) * 2 + 3 + 4
    assert tests[0]["baseline"] == "mlp"
    assert float(tests[0]["p_holm"]) >= float(tests[0]["p"]) > 0
    assert float(tests[0]["difference"]) == pytest.approx(5 / 3)
    assert tests[1]["p"] == ""


def test_files_are_written_and_replaced(tmp_path, records):
    folder = tmp_path / "results"
    first = write_table(build_table("table2", []), folder)
    names = ["table2.md", "table2.tex", "table2.csv", "table2-folds.csv", "table2-tests.csv"]
    assert [path.name for path in first] == names
    table = build_table("table2", records)
    write_table(table, folder)
    assert (folder / "table2.md").read_text(encoding="utf-8") == markdown(table)
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert [path.name for path in write_table(build_table("depth", []), tmp_path)] == [
        "depth.md", "depth.tex", "depth.csv", "depth-folds.csv",
    ]  # fmt: skip


@pytest.mark.parametrize("step", ["os.fsync", "os.replace"])
def test_a_failed_write_leaves_the_old_table(tmp_path, monkeypatch, step):
    (path, *_) = write_table(build_table("table2", []), tmp_path)
    before = path.read_bytes()

    def full_disk(*arguments):
        raise OSError("no space left")

    monkeypatch.setattr(step, full_disk)
    with pytest.raises(OSError, match="no space left"):
        write_table(build_table("table2", [], ["texas"]), tmp_path)
    assert path.read_bytes() == before
    assert not [item for item in tmp_path.iterdir() if item.name.startswith(".")]


def test_tables_do_not_depend_on_the_order_of_records(records):
    assert markdown(build_table("table2", records)) == markdown(build_table("table2", records[::-1]))
