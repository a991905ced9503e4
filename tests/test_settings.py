import json
import math
from dataclasses import FrozenInstanceError, dataclass, field
from typing import ClassVar, Literal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st

from latopo.errors import LatopoError
from latopo.settings import Settings, changed, from_plain, names_of, to_plain


@dataclass(frozen=True)
class Round(Settings):
    kind: ClassVar[str] = "round"
    radius: float = field(default=1.0, metadata={"above": 0})


@dataclass(frozen=True)
class Square(Settings):
    kind: ClassVar[str] = "square"
    side: float = field(default=2.0, metadata={"at_least": 0, "at_most": 10})
    corners: Literal["sharp", "soft"] = "sharp"


@dataclass(frozen=True)
class Lamp(Settings):
    watts: int = field(default=40, metadata={"at_least": 1})


@dataclass(frozen=True)
class Room(Settings):
    shape: Round | Square = Round()
    lamp: Lamp | None = None
    doors: int = field(default=1, metadata={"at_least": 0, "below": 5})
    height: float | None = field(default=None, metadata={"above": 0})
    tiled: bool = False
    name: str = "room"
    colour: Literal["white", "grey"] | None = None
    sizes: tuple[float, ...] = field(default=(), metadata={"above": 0})


@dataclass(frozen=True)
class House(Settings):
    room: Room = Room()
    floors: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.floors > 1 and self.room.height is None:
            raise LatopoError("floors above each other need a height")


# Types and bounds


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"doors": -1}, "doors must be a whole number of at least 0 and below 5, got -1"),
        ({"doors": 5}, "doors must be a whole number of at least 0 and below 5, got 5"),
        ({"doors": 1.0}, "doors must be a whole number of at least 0 and below 5, got 1.0"),
        ({"doors": True}, "doors must be a whole number of at least 0 and below 5, got True"),
        ({"doors": None}, "doors must be a whole number of at least 0 and below 5, got None"),
        ({"height": 0}, "height must be a number above 0 or null, got 0.0"),
        ({"height": math.nan}, "height must be a number above 0 or null, got nan"),
        ({"height": math.inf}, "height must be a number above 0 or null, got inf"),
        ({"height": "3"}, "height must be a number above 0 or null, got '3'"),
        ({"height": True}, "height must be a number above 0 or null, got True"),
        ({"tiled": 1}, "tiled must be true or false, got 1"),
        ({"tiled": "yes"}, "tiled must be true or false, got 'yes'"),
        ({"name": 3}, "name must be a text, got 3"),
        ({"colour": "red"}, "colour must be white, grey or null, got 'red'"),
        ({"colour": ["white"]}, "colour must be white, grey or null, got ['white']"),
        ({"sizes": 3.0}, "sizes must be a list, each item a number above 0, got 3.0"),
        ({"sizes": (1.0, "2")}, "sizes must be a list, each item a number above 0, got (1.0, '2')"),
        ({"sizes": (1.0, -2)}, "sizes must be a list, each item a number above 0, got (1.0, -2.0)"),
        ({"shape": "round"}, "shape must be round or square, got 'round'"),
        ({"shape": None}, "shape must be round or square, got None"),
        ({"shape": Lamp()}, "shape must be round or square, got Lamp(watts=40)"),
        ({"lamp": Round()}, "lamp must be Lamp or null, got Round(radius=1.0)"),
        ({"height": 10**400}, f"height must be a number above 0 or null, got {10**400}"),
    ],
)
def test_wrong_values_are_answered_in_words(values, message):
    with pytest.raises(LatopoError) as error:
        Room(**values)
    assert str(error.value) == message


@pytest.mark.parametrize("side", [0, 10])
def test_closed_ends_are_within(side):
    assert Square(side).side == side
    with pytest.raises(LatopoError, match="side must be a number of at least 0 and of at most 10"):
        Square(side + (1e-9 if side else -1e-9))


@pytest.mark.parametrize("value", [np.arange(2), np.ones((1, 1)), torch.ones(2), {}, [], object(), 1j, b"1"])
@pytest.mark.parametrize("name", ["doors", "height", "tiled", "name", "colour", "shape", "lamp"])
def test_no_object_whatever_is_answered_with_another_error(name, value):
    with pytest.raises(LatopoError, match=f"{name} must be"):
        Room(**{name: value})
    with pytest.raises(LatopoError, match=f"{name} must be"):
        Room().change(**{name: value})


def test_numbers_of_other_libraries_become_python_s():
    room = Room(doors=np.int32(2), height=np.float32(2.5), tiled=np.bool_(True), sizes=[np.float64(1), np.int64(2)])
    assert room == Room(doors=2, height=2.5, tiled=True, sizes=(1.0, 2.0))
    assert [type(value) for value in (room.doors, room.height, room.tiled, *room.sizes)] == [
        int, float, bool, float, float,
    ]  # fmt: skip
    assert Room(height=torch.tensor(2.5)).height == 2.5
    assert Room(name=np.str_("hall")) == Room(name="hall")


def test_whole_numbers_serve_as_numbers():
    assert type(Room(height=3).height) is float
    assert Room(sizes=[1, 2]).sizes == (1.0, 2.0)
    assert {Room(height=3): "one"}[Room(height=3.0)] == "one"


def test_frozen():
    with pytest.raises(FrozenInstanceError):
        Room().doors = 2


# Changes


def test_fields_are_found_wherever_they_are():
    house = House().change(floors=2, height=3, radius=2, doors=4)
    assert house == House(Room(Round(2.0), doors=4, height=3.0), floors=2)
    assert House().change() == House()
    assert changed(house, {"radius": 1}) == House(Room(doors=4, height=3.0), floors=2)
    assert house.room.shape.radius == 2.0  # what was changed is a copy


def test_parts_by_word():
    assert House().change(shape="square").room.shape == Square()
    assert House().change(lamp=True).room.lamp == Lamp()
    assert House().change(lamp=True).change(lamp=None) == House()
    assert House().change(shape=Square(3.0)).room.shape == Square(3.0)
    assert House().change(room=Room(doors=2)) == House(Room(doors=2))


def test_fields_of_a_part_that_the_same_change_brings_in():
    assert House().change(shape="square", side=4).room.shape == Square(4.0)
    assert House().change(watts=60, lamp=True).room.lamp == Lamp(60)
    assert House().change(room=Room(Square()), corners="soft").room.shape == Square(corners="soft")


def test_a_change_of_two_fields_that_need_each_other():
    with pytest.raises(LatopoError, match="floors above each other need a height"):
        House().change(floors=2)
    assert House().change(floors=2, height=2.5).floors == 2


@pytest.mark.parametrize("value", ["", "cube", "Lamp", False, 1])
def test_words_that_stand_for_no_part(value):
    with pytest.raises(LatopoError, match="lamp must be Lamp or null, got"):
        House().change(lamp=value)
    with pytest.raises(LatopoError, match="shape must be round or square, got"):
        House().change(shape=value)


def test_unknown_names():
    with pytest.raises(LatopoError) as error:
        House().change(radius=2, side=3, windows=4)
    known = "colour, doors, floors, height, lamp, name, radius, room, shape, sizes, tiled"
    assert str(error.value) == f"side, windows: there is no such setting here; expected some of {known}"
    with pytest.raises(LatopoError, match="watts: there is no such setting here"):
        House().change(watts=60)  # there is no lamp


def test_names():
    assert names_of(Square()) == ["side", "corners"]
    expected = ["shape", "lamp", "doors", "height", "tiled", "name", "colour", "sizes", "radius", "watts"]
    assert names_of(Room(lamp=Lamp())) == expected


# Saving

positive = st.floats(1e-9, 1e9)
rooms = st.builds(
    Room,
    shape=st.builds(Round, positive) | st.builds(Square, st.floats(0, 10), st.sampled_from(["sharp", "soft"])),
    lamp=st.none() | st.builds(Lamp, st.integers(1, 10**6)),
    doors=st.integers(0, 4),
    height=st.none() | positive,
    tiled=st.booleans(),
    name=st.text(),
    colour=st.sampled_from(["white", "grey", None]),
    sizes=st.lists(positive).map(tuple),
)


@run(deadline=None)
@given(rooms)
def test_round_trip(room):
    house = House(room)
    assert from_plain(House, to_plain(house)) == house
    assert from_plain(House, json.loads(json.dumps(to_plain(house)))) == house


def test_plain_form():
    assert to_plain(Square(3.0)) == {"kind": "square", "side": 3.0, "corners": "sharp"}
    assert to_plain(House(Room(Square(), Lamp()))) == {
        "room": {
            "shape": {"kind": "square", "side": 2.0, "corners": "sharp"},
            "lamp": {"watts": 40},
            "doors": 1, "height": None, "tiled": False, "name": "room", "colour": None, "sizes": (),
        },
        "floors": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plain: None, "House: expected an object of settings, got None"),
        (lambda plain: [plain], "House: expected an object of settings, got \\["),
        (lambda plain: plain | {"kind": "tent"}, "House: expected an object of settings"),
        (lambda plain: {"floors": 1}, r"House: expected the settings \['floors', 'room'\], got \['floors'\]"),
        (lambda plain: plain | {"roof": 1}, r"got \['floors', 'roof', 'room'\]"),
        (lambda plain: plain | {"floors": "1"}, "floors must be a whole number, got '1'"),
        (lambda plain: plain | {"room": None}, "room must be Room, got None"),
        (lambda plain: plain | {"room": plain["room"] | {"shape": {}}}, "shape must be round or square, got {}"),
        (lambda plain: plain | {"room": plain["room"] | {"shape": {"kind": "cube"}}}, "shape must be round or square"),
        (lambda plain: plain | {"room": plain["room"] | {"shape": {"kind": ["round"]}}}, "shape must be round or"),
        (lambda plain: plain | {"room": plain["room"] | {"shape": "round"}}, "shape must be round or square"),
        (lambda plain: plain | {"room": plain["room"] | {"lamp": {}}}, r"Lamp: expected the settings \['watts'\]"),
        (lambda plain: plain | {"room": plain["room"] | {"lamp": {"watts": 0}}}, "watts must be a whole number of"),
        (lambda plain: plain | {"floors": 2}, "floors above each other need a height"),
    ],
)
def test_what_was_changed_by_hand_is_checked(change, message):
    with pytest.raises(LatopoError, match=message):
        from_plain(House, change(to_plain(House())))


@dataclass(frozen=True)
class Desk(Settings):
    wide: bool = False
    drawers: int = field(default=2, metadata={"unsaid": True})


def test_a_field_that_came_later_is_unsaid_at_its_default():
    assert to_plain(Desk()) == {"wide": False}
    assert to_plain(Desk(drawers=3)) == {"wide": False, "drawers": 3}
    for desk in (Desk(), Desk(wide=True, drawers=3)):
        assert from_plain(Desk, to_plain(desk)) == desk
    with pytest.raises(LatopoError, match="expected the settings"):
        from_plain(Desk, {"drawers": 2})
