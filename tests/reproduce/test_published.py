from latopo.data import find_dataset
from latopo.reproduce.published import published_notes, published_numbers


def test_every_number_belongs_to_a_set_of_graphs():
    numbers = published_numbers()
    assert len(numbers) == 8
    assert all(find_dataset(number.dataset).level == "graph" for number in numbers)
    assert all(70 < number.accuracy < 95 for number in numbers)
    assert {number.protocol for number in numbers if number.system == "CWN"} == {"paper"}


def test_notes_name_only_what_is_shown():
    assert published_notes(("dhfr",)) == []
    assert len(published_notes(("proteins", "mutag"))) == 2
