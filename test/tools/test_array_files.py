"""Arrays from files and into files: every kind, and every way in which they can be wrong."""

from __future__ import annotations

import io
import os
import random
import stat
import sys
import warnings
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import ml_dtypes
import numpy as np
import pytest
from PIL import Image

from tiledialect.errors import TileError
from tiledialect.tools.array_files import destinations, random_array, read_array, write_arrays


def test_numbers():
    assert read_array("3") == 3 and read_array("-0.5") == -0.5 and read_array("True") is True


def test_random_numbers():
    a = random_array("20, 30")
    assert a.dtype == np.float32 and a.shape == (20, 30)
    assert a.min() < -0.9 and a.max() > 0.9 and abs(a.mean()) < 0.1
    assert np.array_equal(a, random_array("20,30")) and (a != random_array("20,30", 1)).any()
    assert np.array_equal(random_array("4,seed=3"), random_array("4", 3))
    integers = read_array("random(100,dtype=int8)")
    assert isinstance(integers, np.ndarray)
    assert set(integers.tolist()) == set(range(-10, 11)) and integers.dtype == np.int8
    assert random_array("9,dtype=bool").dtype == bool
    assert random_array("").shape == () and random_array("0,3").shape == (0, 3)


@pytest.mark.parametrize(
    "text", ["x", "2,-1", "2,dtype=complex64", "2,dtype=foo", "2,size=3", "seed=-1", "1.5"]
)
def test_bad_random_numbers(text: str):
    with pytest.raises(TileError, match=r"random\(.*\) is not sizes"):
        random_array(text)


def test_images_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    Image.new("L", (2, 2)).save(tmp_path / "a.png")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(TileError, match="images need Pillow: pip install pillow"):
        read_array(str(tmp_path / "a.png"))


def test_too_many_random_numbers():
    with pytest.raises(TileError, match="is too large"):
        random_array(f"{10**9},{10**9}")


@pytest.mark.parametrize(
    ("mode", "shape", "dtype"),
    [
        ("L", (2, 3), "uint8"),
        ("1", (2, 3), "uint8"),
        ("RGB", (2, 3, 3), "uint8"),
        ("RGBA", (2, 3, 3), "uint8"),
        ("P", (2, 3, 3), "uint8"),
        ("I;16", (2, 3), "uint16"),
    ],
)
def test_images(tmp_path: Path, mode: str, shape: tuple[int, ...], dtype: str):
    path = tmp_path / "x.png"
    Image.new(mode, (3, 2)).save(path)
    array = read_array(str(path))
    assert isinstance(array, np.ndarray)
    assert (array.shape, array.dtype) == (shape, np.dtype(dtype))


@pytest.mark.parametrize("path", ["x.npy", "x.npz"])
def test_bfloat16_comes_back(tmp_path: Path, path: str):
    """NumPy's format has no name for it."""
    numbers = np.array([[1.5, -2], [np.inf, 0]], ml_dtypes.bfloat16)
    write_arrays({"A": numbers}, {"A": str(tmp_path / path)})
    array = read_array(str(tmp_path / path))
    assert isinstance(array, np.ndarray) and array.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(array, numbers)


def test_images_come_back(tmp_path: Path):
    path = str(tmp_path / "x.png")
    picture = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert write_arrays({"A": picture}, {"A": path}) == []
    assert np.array_equal(read_array(path), picture)
    for grey in (picture[..., 0], picture[..., :1], picture[..., 0].astype(np.float32)):
        write_arrays({"A": grey}, {"A": path})
        assert np.array_equal(read_array(path), picture[..., 0])
    write_arrays({"A": picture[..., 0] > 5}, {"A": path})
    assert set(np.ravel(read_array(path))) == {0, 255}


def test_values_that_no_image_has(tmp_path: Path):
    path = str(tmp_path / "x.png")
    (remark,) = write_arrays({"A": np.float32([[-5, 0.6, 300]])}, {"A": path})
    assert remark == f"{path}: A has values from -5 to 300, cut to 0 to 255"
    assert np.array_equal(read_array(path), [[0, 1, 255]])


@pytest.mark.parametrize("shape", [(), (3,), (2, 2, 2), (2, 2, 3, 1), (0, 3)])
def test_arrays_that_are_no_image(tmp_path: Path, shape: tuple[int, ...]):
    with pytest.raises(TileError, match="is no image"):
        write_arrays({"A": np.zeros(shape)}, {"A": str(tmp_path / "x.png")})


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.npy", b"nonsense", "is not a sound .npy file"),
        ("x.npy", b"", "is not a sound .npy file"),
        ("x.npz", b"nonsense", "is not a sound .npz file"),
        ("x.png", b"nonsense", "is not an image"),
        ("x.png", b"", "is not an image"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, content: bytes, words: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TileError, match=words):
        read_array(str(tmp_path / name))


def test_files_of_objects_are_not_executed(tmp_path: Path):
    np.save(tmp_path / "x.npy", np.array([print]), allow_pickle=True)
    with pytest.raises(TileError, match="is not a sound"):
        read_array(str(tmp_path / "x.npy"))


def test_archives(tmp_path: Path):
    path = str(tmp_path / "x.npz")
    np.savez(path, a=np.zeros(2))
    assert np.array_equal(read_array(path), [0, 0])
    np.savez(path, a=np.zeros(2), b=np.ones(2))
    assert np.array_equal(read_array(f"{path}:b"), [1, 1])
    with pytest.raises(TileError, match=r"has several arrays; write .*:KEY, a, b"):
        read_array(path)
    with pytest.raises(TileError, match=r"has no array c; write"):
        read_array(f"{path}:c")


@pytest.mark.parametrize(
    ("text", "dtype", "shape"),
    [
        ("2,3,dtype=u8", "uint8", (2, 3)),
        ("2,3,dtype=ui8", "uint8", (2, 3)),
        ("2,3,dtype=uint8", "uint8", (2, 3)),
        ("2,3,dtype=i8", "int8", (2, 3)),
        ("2,3,dtype=i1", "bool", (2, 3)),
        ("4,dtype=f16", "float16", (4,)),
        ("4,dtype=bfloat16", "bfloat16", (4,)),
        ("2x3xbf16", "bfloat16", (2, 3)),
        ("2x3xu8", "uint8", (2, 3)),
        ("2x3xui8,seed=3", "uint8", (2, 3)),
        ("2x3xf64", "float64", (2, 3)),
        ("f32", "float32", ()),
    ],
)
def test_types_of_random_numbers(text: str, dtype: str, shape: tuple[int, ...]) -> None:
    array = random_array(text)
    assert (array.dtype, array.shape) == (np.dtype(dtype), shape)


@pytest.mark.parametrize("text", ["2,dtype=f8", "2,dtype=u1", "2,dtype=2xf32", "2x3", "2x3xf32,4"])
def test_types_that_are_none(text: str) -> None:
    with pytest.raises(TileError, match=r"random\(.*\) is not sizes"):
        random_array(text)


@pytest.mark.parametrize(("mode", "dtype"), [("F", "float32"), ("I", "int32"), ("I;16", "uint16")])
def test_wide_greys_are_read_as_they_are(tmp_path: Path, mode: str, dtype: str) -> None:
    values = np.array([[0, 300], [40000, 7]], dtype)
    path = str(tmp_path / "x.tif")
    Image.fromarray(values).save(path)
    with Image.open(path) as image:
        assert image.mode == mode
    array = read_array(path)
    assert isinstance(array, np.ndarray) and array.dtype == dtype
    assert np.array_equal(array, values)


def test_the_first_of_several_pictures_is_read_with_a_word(tmp_path: Path) -> None:
    path = str(tmp_path / "x.gif")
    frames = [Image.new("L", (2, 2), shade) for shade in (0, 99)]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    with pytest.warns(UserWarning, match="holds 2 images; the first is read"):
        read_array(path)


def contents(tmp_path: Path) -> list[tuple[str, bytes]]:
    """A file of every kind."""
    array, picture = np.arange(600.0).reshape(20, 30), np.arange(600, dtype=np.uint8)
    np.save(tmp_path / "x.npy", array)
    np.savez(tmp_path / "x.npz", a=array)
    np.savez_compressed(tmp_path / "y.npz", a=array)
    for suffix in ("png", "jpg", "bmp", "gif", "tif", "webp", "ppm"):
        Image.fromarray(picture.reshape(10, 20, 3)).save(tmp_path / f"x.{suffix}")
    return [(path.name, path.read_bytes()) for path in sorted(tmp_path.iterdir())]


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    rng, refused = random.Random(1), 0
    for name, content in contents(tmp_path):
        for _ in range(60):
            data = bytearray(content)
            for _ in range(rng.randint(1, 3)):
                data[rng.randrange(min(len(data), 400))] = rng.randrange(256)
            if rng.random() < 0.3:
                del data[rng.randrange(len(data)) :]
            (tmp_path / name).write_bytes(data)
            try:
                with warnings.catch_warnings(action="ignore"):
                    read_array(str(tmp_path / name))
            except TileError as error:
                assert name in str(error) and "\n" not in str(error)
                refused += 1
    assert refused > 100


def npy(header: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize(
    "content",
    [
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3"),
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\x00"),
        npy(b"{'descr': '<q9', 'fortran_order': False, 'shape': (3,)}"),
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}"),
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 'a')}"),
        npy(b"(" * 5000),
    ],
)
def test_wrong_headers(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(TileError, match=r"x\.npy is (not a sound|too large)"):
        read_array(str(tmp_path / "x.npy"))


def test_wrong_archives(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    member = io.BytesIO()
    np.save(member, np.arange(99))
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", member.getvalue())
        archive.writestr("readme", "no array")
    assert np.array_equal(read_array(f"{path}:a"), np.arange(99))
    with pytest.raises(TileError, match="is not a sound"):
        read_array(f"{path}:readme")
    data = bytearray(path.read_bytes())
    data[40:60] = bytes(20)
    path.write_bytes(data)
    with pytest.raises(TileError, match="is not a sound"):
        read_array(f"{path}:a")
    with ZipFile(path, "w"):
        pass
    with pytest.raises(TileError, match="has no arrays"):
        read_array(str(path))


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    for name in ("x.npy", "x.npz", "x.png"):
        (tmp_path / name).mkdir()
        with pytest.raises(TileError, match=r"cannot read .*Is a directory"):
            read_array(str(tmp_path / name))
        with pytest.raises(TileError, match=r"cannot write .*Is a directory"):
            write_arrays({"A": np.zeros((2, 2))}, {"A": str(tmp_path / name)})


# -- writing -----------------------------------------------------------------------------------


def test_capital_suffixes(tmp_path: Path) -> None:
    picture = np.arange(6, dtype=np.uint8).reshape(2, 3)
    arrays: dict[str, Any] = {"A": picture, "B": picture + 1, "C": picture, "D": picture + 3}
    names = {"A": "o.NPY", "B": "o.NPZ", "C": "o.NPZ:c", "D": "o.PNG"}
    write_arrays(arrays, {name: str(tmp_path / file) for name, file in names.items()})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.NPY", "o.NPZ", "o.PNG"]
    for name, file in {**names, "B": "o.NPZ:B"}.items():
        assert np.array_equal(read_array(str(tmp_path / file)), arrays[name])


def test_any_key(tmp_path: Path) -> None:
    path = f"{tmp_path}/o.npz"
    keys = ("file", "allow_pickle", "a/b", "größe")
    write_arrays({k: np.array([1]) for k in keys}, {k: f"{path}:{k}" for k in keys})
    for key in keys:
        assert np.array_equal(read_array(f"{path}:{key}"), [1])
    with np.load(path) as archive:
        assert sorted(archive.files) == sorted(keys)


@pytest.mark.parametrize(
    "files",
    [
        ("s.npy", "s.npy"),
        ("s.npy", "./s.npy"),
        ("s.npy", "link.npy"),
        ("s.png", "s.png"),
        ("s.npz:k", "s.npz:k"),
        ("s.npz", "s.npz:A"),
        ("s.npz", "link.png"),
    ],
)
def test_no_file_is_written_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link.npy").symlink_to("s.npy")
    Path("link.png").symlink_to("s.npz")
    a, b = files
    with pytest.raises(TileError, match="A and B would both be written to"):
        destinations({"A": a, "B": b})
    assert destinations({"A": "s.npz", "B": "./s.npz"})


def test_what_was_there_stays_if_anything_fails(tmp_path: Path) -> None:
    old = {name: tmp_path / name for name in ("a.npy", "b.npz", "c.png")}
    for path in old.values():
        path.write_text("old")
    with pytest.raises(TileError, match="is no image"):
        write_arrays(
            {"A": np.zeros(3), "B": np.zeros(3), "C": np.zeros(3)},
            dict(zip("ABC", map(str, old.values()), strict=True)),
        )
    assert [path.read_text() for path in old.values()] == ["old"] * 3
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(old)


def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "a.npy", tmp_path / "link.npy"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_arrays({"A": np.zeros(3)}, {"A": str(link)})
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert np.array_equal(np.load(path), np.zeros(3))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux alone has /dev/full")
@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.png", "x.jpg", "x.tif", "x.webp"])
def test_a_full_device(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/dev/full")
    with pytest.raises(TileError, match=r"cannot write .*"):
        write_arrays({"A": np.zeros((400, 400))}, {"A": str(tmp_path / name)})


def test_pictures_that_a_format_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(TileError, match=r"cannot write .*x\.webp"):
        write_arrays({"A": np.zeros((1, 20000))}, {"A": str(tmp_path / "x.webp")})


def test_lists_ones_and_zeros():
    assert read_array("[1,2,1]") == [1, 2, 1]
    ones, zeros = read_array("ones(3)"), read_array("zeros(2x3xu8)")
    assert isinstance(ones, np.ndarray) and isinstance(zeros, np.ndarray)
    assert ones.tolist() == [1, 1, 1] and ones.dtype == np.float32
    assert zeros.tolist() == [[0] * 3] * 2 and zeros.dtype == np.uint8
    with pytest.raises(TileError, match=r"ones\(x\) is not sizes"):
        read_array("ones(x)")


def test_colours_that_a_gif_has_no_room_for(tmp_path: Path):
    pixels = np.zeros((20, 20, 3), np.uint8)
    pixels[..., 0], pixels[..., 1] = np.indices((20, 20))
    (remark,) = write_arrays({"O": pixels}, {"O": str(tmp_path / "o.gif")})
    assert "O has 400 colours, and a .gif holds 256" in remark
    assert write_arrays({"O": pixels[:10]}, {"O": str(tmp_path / "p.gif")}) == []
