"""Arrays out of zips: those that were written come back, and nothing is unpacked that is too large or no array."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from mahjong_env.basics.files import read_arrays, read_entry

MOST = 2**16
ARRAYS = {"one": np.arange(6).reshape(2, 3), "two": np.array(1.5), "three": np.zeros(0, np.int8)}
BOMB = 2**26  # bytes of zeros: 64 kB as a zip


def zipped(method=zipfile.ZIP_DEFLATED, **entries):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(f"{name}.npy", content)
    return data.getvalue()


def npy(array):
    data = io.BytesIO()
    np.save(data, array)
    return data.getvalue()


def header(text, version=1):
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_numpy_has_written_is_read(save):
    data = io.BytesIO()
    save(data, **ARRAYS)
    found = read_arrays(data.getvalue(), MOST)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert read_arrays(data.getvalue(), MOST, names=("two",)).keys() == {"two"}
    with pytest.raises(KeyError):
        read_arrays(data.getvalue(), MOST, names=("four",))


def lying(data, size):
    """The same zip, whose directory says that its entry is this long when unpacked."""
    at = data.rindex(b"PK\x01\x02") + 24
    return data[:at] + struct.pack("<I", size) + data[at + 4 :]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped(bomb=bytes(BOMB)), r"bomb.npy would take 64.0 MiB unpacked; 65536 bytes are the most"),
        (zipped(one=npy(np.zeros(MOST - 200, np.int8)), two=bytes(MOST)), "two.npy would take"),
        (lying(zipped(bomb=bytes(BOMB)), 1000), "Bad CRC-32"),
        (lying(zipped(zipfile.ZIP_BZIP2, bomb=bytes(BOMB)), 1000), "is packed in a way that is not read here"),
        (lying(zipped(zipfile.ZIP_LZMA, bomb=bytes(BOMB)), 1000), "is packed in a way that is not read here"),
        (zipped(long=header("{" + " " * 20_000 + "}", 2)), "long.npy is no plain array"),
        (zipped(object=header("{'descr': '|O', 'fortran_order': False, 'shape': ()}")), "object.npy is no plain array"),
        (zipped(pickle=b"cos\nsystem\n(S'true'\ntR."), "pickle.npy is no plain array"),
    ],
    ids=["bomb", "two", "lying", "bzip2", "lzma", "header", "objects", "pickle"],
)
def test_what_is_too_large_or_no_array_is_refused_before_it_is_unpacked(data, message):
    tracemalloc.start()
    try:
        with pytest.raises((ValueError, zipfile.BadZipFile), match=message) as refused:
            read_arrays(data, MOST)
        assert tracemalloc.get_traced_memory()[1] < BOMB / 8
    finally:
        tracemalloc.stop()
    assert "allow_pickle" not in str(refused.value)
    assert "trust" not in str(refused.value)


def test_an_entry_is_read_whole():
    with zipfile.ZipFile(io.BytesIO(zipped(one=b"123", none=b""))) as archive:
        assert read_entry(archive, "one.npy", 3) == b"123"
        assert read_entry(archive, "none.npy", 0) == b""
        with pytest.raises(ValueError, match=r"one.npy would take 3 bytes unpacked; 2 bytes are the most"):
            read_entry(archive, "one.npy", 2)
