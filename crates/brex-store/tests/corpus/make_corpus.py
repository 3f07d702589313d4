"""Writes files that are made to hurt a reader: one directory per format, one attack per file.

    python make_corpus.py

Files whose name starts with `fuzz-` were found by fuzzing and are not written here. In `zarr` a file
is the metadata of a variable, a zero byte, and a chunk.
"""

import io
import json
import pathlib
import struct
import zipfile
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent


def put(kind, name, data):
    directory = HERE / kind
    directory.mkdir(exist_ok=True)
    (directory / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def npy(descr="'<f8'", shape="(1, 1)", order="False", data=bytes(8), version=1, length=None):
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    size = len(header) if length is None else length
    prefix = struct.pack("<H" if version == 1 else "<I", size)
    return b"\x93NUMPY" + bytes([version, 0]) + prefix + header + data


def make_npy():
    put("npy", "valid", npy())
    put("npy", "nothing", b"")
    put("npy", "magic-only", b"\x93NUMPY")
    put("npy", "terabytes", npy(shape="(1000000, 1000000)"))
    put("npy", "terabytes-without-data", npy(shape="(1000000, 1000000)", data=b""))
    put("npy", "overflow", npy(shape="(4611686018427387904, 4)"))
    put("npy", "overflow-to-zero", npy(shape="(4294967296, 4294967296)", data=b""))
    put("npy", "number-too-long", npy(shape="(" + "9" * 5000 + ",)"))
    put("npy", "negative", npy(shape="(-1, 1)"))
    put("npy", "no-elements", npy(shape="(0, 9223372036854775807)", data=b""))
    put("npy", "no-elements-fortran", npy(shape="(9999999999, 0)", order="True", data=b""))
    put("npy", "no-bytes-per-element", npy("'|S0'", "(9999999999,)", data=b""))
    put("npy", "wide-text", npy("'<U1048577'", "(1,)"))
    put("npy", "text-not-unicode", npy("'<U2'", "(1,)", data=b"\xff" * 8))
    put("npy", "scalar", npy(shape="()"))
    put("npy", "many-dimensions", npy(shape="(" + "1," * 40 + ")"))
    put("npy", "brackets", npy(descr="[" * 12000))
    put("npy", "parentheses", npy(shape="(" * 12000))
    put("npy", "long-header", npy(version=2, length=0xFFFFFFFF))
    put("npy", "header-past-end", npy(length=60000))
    put("npy", "future-version", npy(version=9))
    put("npy", "structured", npy(descr="[('x', '<f8')]"))
    put("npy", "pickle", npy(descr="'|O'", data=b"cos\nsystem\n(S'id'\ntR."))
    put("npy", "truncated", npy(shape="(2, 1)"))
    put("npy", "too-long", npy(data=bytes(9)))
    put("npy", "header-not-text", b"\x93NUMPY\x01\x00\x04\x00\xff\xfe\xfd\xfc")
    put("npy", "infinite", npy(data=struct.pack("<d", float("inf"))))
    put("npy", "keys-twice", npy(order="False, 'shape': (9, 9)"))


def archive(entries, method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, data in entries:
            file.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return buffer.getvalue()


def make_npz():
    valid = archive([("features.npy", npy())])
    put("npz", "valid", valid)
    put("npz", "nothing", b"")
    put("npz", "no-entries", archive([]))
    put("npz", "truncated", valid[: len(valid) // 2])
    put("npz", "directory-only", valid[valid.index(b"PK\x01\x02") :])
    zeros = npy(shape="(1, 9000000)", data=bytes(72_000_000))
    put("npz", "bomb", archive([("features.npy", zeros)]))
    put("npz", "terabytes", archive([("features.npy", npy(shape="(1000000, 1000000)"))]))
    # The directory says that an entry is larger than it is, and a shape that would fit.
    for name, claimed in [("size-too-large", 0xFFFFFFF0), ("size-too-small", 3)]:
        data = bytearray(valid)
        at = data.index(b"PK\x01\x02")
        data[at + 24 : at + 28] = struct.pack("<I", claimed)
        put("npz", name, bytes(data))
    data = bytearray(valid)
    at = data.index(b"PK\x05\x06")
    data[at + 8 : at + 12] = b"\xff\xff\xff\xff"
    put("npz", "many-entries-claimed", bytes(data))
    data = bytearray(valid)
    at = data.index(b"PK\x05\x06")
    data[at + 16 : at + 20] = b"\xf0\xff\xff\xff"
    put("npz", "directory-elsewhere", bytes(data))
    data = bytearray(valid)
    data[data.index(b"PK\x01\x02") + 16] ^= 0xFF
    put("npz", "wrong-checksum", bytes(data))
    data = bytearray(valid)
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    put("npz", "encrypted", bytes(data))
    data = bytearray(valid)
    data[8] = data[data.index(b"PK\x01\x02") + 10] = 14
    put("npz", "other-compression", bytes(data))
    put("npz", "harmless-climbing-name", archive([("../features.npy", npy())]))
    put("npz", "no-array", archive([("features.npy", b"hello")]))
    put("npz", "name-twice", archive([("features.npy", npy()), ("features.npy", b"x")]))
    put("npz", "few-ids", archive([("features.npy", npy()), ("ids.npy", npy(shape="(0,)", data=b""))]))


def tensors(header, data=bytes(8), length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def make_safetensors():
    def one(shape, offsets, dtype="F64"):
        return {"features": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}

    put("safetensors", "valid", tensors(one([1, 1], [0, 8])))
    put("safetensors", "nothing", b"")
    put("safetensors", "long-header", tensors(one([1, 1], [0, 8]), length=2**64 - 1))
    put("safetensors", "header-past-end", tensors(one([1, 1], [0, 8]), length=9999))
    put("safetensors", "terabytes", tensors(one([10**6, 10**6], [0, 8 * 10**12])))
    put("safetensors", "shape-too-large", tensors(one([10**6, 10**6], [0, 8])))
    put("safetensors", "overflow", tensors(one([2**62, 4], [0, 8])))
    put("safetensors", "no-elements", tensors(one([2**40, 0], [0, 0]), b""))
    put("safetensors", "backwards", tensors(one([1, 1], [8, 0])))
    put("safetensors", "negative", tensors(one([1, 1], [-8, 0])))
    put("safetensors", "hole", tensors(one([1, 1], [8, 16]), bytes(16)))
    put("safetensors", "too-long", tensors(one([1, 1], [0, 8]), bytes(9)))
    put("safetensors", "unknown-type", tensors(one([1, 1], [0, 8], "F128")))
    put("safetensors", "not-json", tensors(b"\xff\xfe{"))
    put("safetensors", "brackets", tensors(b"[" * 8000))
    put("safetensors", "no-tensors", tensors({}, b""))
    both = one([1, 1], [0, 8]) | {"b": {"dtype": "F64", "shape": [1, 1], "data_offsets": [0, 8]}}
    put("safetensors", "overlap", tensors(both))
    for name, ids in [("ids-not-json", "["), ("ids-nested", "[[[[[[]]]]]]"), ("ids-few", "[]")]:
        with_ids = {"__metadata__": {"ids": ids}} | one([1, 1], [0, 8])
        put("safetensors", name, tensors(with_ids))
    put("safetensors", "metadata-not-text", tensors({"__metadata__": {"a": 1}} | one([1, 1], [0, 8])))


def make_parquet():
    def table(columns, **options):
        buffer = io.BytesIO()
        pq.write_table(pa.table(columns), buffer, store_schema=False, **options)
        return buffer.getvalue()

    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    valid = table({"x": [1.0, 2.0]}, **plain)
    put("parquet", "valid", valid)
    put("parquet", "nothing", b"")
    put("parquet", "magic-only", b"PAR1")
    put("parquet", "magic-twice", b"PAR1\x00\x00\x00\x00PAR1")
    put("parquet", "truncated", valid[:-20])
    put("parquet", "footer-past-start", valid[:-8] + struct.pack("<I", 0x7FFFFFFF) + b"PAR1")
    put("parquet", "footer-damaged", valid[:40] + bytes(30) + valid[70:])
    constant = table({"x": np.zeros(9_000_000)}, compression="zstd", write_statistics=False)
    put("parquet", "bomb", constant)
    text = table({"id": ["a" * 50000] * 50000}, compression="zstd", write_statistics=False)
    put("parquet", "repeated-text", text)

    def patched(name, data, old, new):
        assert data.count(old) >= 1, name
        put("parquet", name, data.replace(old, new))

    # The number of rows is a zigzag varint in the footer; two rows are 04.
    footer = valid[valid.rindex(b"x") - 60 :]
    huge = b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    for at, byte in enumerate(footer[:-8]):
        if byte == 4 and footer[at - 1] == 0x16:
            end = len(valid) - len(footer) + at
            body = valid[:end] + huge + valid[end + 1 : -8]
            size = struct.unpack("<I", valid[-8:-4])[0] + len(huge) - 1
            put("parquet", f"rows-{at}", body + struct.pack("<I", size) + b"PAR1")
    # The first page header follows the magic: type, uncompressed size, compressed size.
    snappy = table({"x": [1.0] * 64}, compression="snappy", use_dictionary=False, write_statistics=False)
    head = snappy[4:]
    assert head[0] == 0x15 and head[2] == 0x15
    size = 3
    while head[size] & 0x80:
        size += 1
    # Two gibibytes in five bytes; what follows moves, so the footer's offsets no longer fit.
    claim = head[:3] + b"\xfe\xff\xff\xff\x0f" + head[size + 1 :]
    put("parquet", "page-of-gibibytes", b"PAR1" + claim)
    same = size - 2
    put("parquet", "page-larger", b"PAR1" + head[:3] + (b"\xff" * (same - 1) + b"\x7f") + head[size + 1 :])
    put("parquet", "harmless-lists", table({"x": [[1.0, 2.0], [3.0, 4.0]]}, **plain))
    put("parquet", "nested", table({"x": [{"y": 1.0}, {"y": 2.0}]}, **plain))
    put("parquet", "deep-lists", table({"x": [[[1.0]], [[2.0]]]}, **plain))
    put("parquet", "dates", table({"x": pa.array([1, 2], pa.date32())}, **plain))
    # A schema of groups in groups: repetition, name, number of children; last a column.
    group, leaf = b"\x35\x00\x18\x01a\x15\x02\x00", b"\x15\x0a\x25\x00\x18\x01a\x00"
    schema = b"\x15\x02\x19\xfc\xd1\x0f" + group * 2000 + leaf
    footer = schema + b"\x16\x00\x19\x0c\x00"
    put("parquet", "deep-schema", b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1")
    put("parquet", "no-columns", table({}, **plain))


def make_csv():
    put("csv", "valid", "id,x,length\na,1,2\nb,3,4\n")
    put("csv", "nothing", "")
    put("csv", "mark-only", b"\xef\xbb\xbf")
    put("csv", "blank-lines", "\n\r\n\r\r\n")
    put("csv", "header-only", "x,y\n")
    put("csv", "ragged", "1,2\n3\n")
    put("csv", "open-quote", 'x,y\n1,"2\n3,4\n')
    put("csv", "not-utf8", b"x,y\n1,\xff\n")
    put("csv", "utf16", "x,y\n1,2\n".encode("utf-16"))
    put("csv", "zero-bytes", b"x,y\n1,\x00\n")
    put("csv", "not-numbers", "1,2\nnan,inf\n")
    put("csv", "huge-number", "1e999,2\n" + "9" * 5000 + ",1\n")
    put("csv", "many-columns", "," * 4000 + "\n" + "," * 4000)
    put("csv", "only-ids", "id\na\nb\n")
    put("csv", "same-ids", "id,x\na,1\na,2\n")
    put("csv", "formula", "=cmd|' /C calc'!A0,2\n1,2\n")
    put("csv", "harmless-carriage-returns", "x,y\r1,2\r3,4\r")


def make_preferences():
    put("preferences", "valid.csv", "a,b,label\n0,1,tie\n1,2,0.25\n")
    put("preferences", "valid.jsonl", '{"worse": 0, "better": 1}\n\n{"a": 0, "b": 2, "label": "skip"}\n')
    put("preferences", "self", "worse,better\n1,1\n")
    put("preferences", "out-of-range", "worse,better\n0,18446744073709551616\n")
    put("preferences", "negative", "worse,better\n0,-1\n")
    put("preferences", "labels", "a,b,label\n0,1,NaN\n0,1,1e999\n")
    put("preferences", "weights", "worse,better,weight\n0,1,-1\n")
    put("preferences", "all-forms", "worse,better,a,b,label\n0,1,0,1,a\n")
    put("preferences", "same-column-twice", "worse,worse,better\n0,1,2\n")
    put("preferences", "no-header", "0,1\n1,2\n")
    put("preferences", "semicolons", "worse;better\n0;1\n")
    put("preferences", "brackets", "[" * 8000)
    put("preferences", "objects", '{"a":' * 2000)
    put("preferences", "lists", '{"worse": [0], "better": {"x": 1}}')
    put("preferences", "floats", '{"worse": 0.5, "better": 1e308}')
    put("preferences", "not-utf8", b'{"worse": "\xff", "better": 1}')
    put("preferences", "escapes", '{"worse": "\\ud800", "better": "\\u0000"}')
    put("preferences", "long-id", "worse,better\n" + "x" * 5000 + ",1\n")


def make_policies():
    put("policies", "valid", '{"A": {"phi": [1, 2]}, "B": {"rollouts": [[1, 2], [3, 4]], "lengths": [5, 6]}}')
    put("policies", "nothing", "")
    put("policies", "no-policies", "{}")
    put("policies", "list", "[1, 2]")
    put("policies", "twice", '{"A": {"phi": [1]}, "A": {"phi": [1]}}')
    put("policies", "ragged", '{"A": {"rollouts": [[1, 2], [3]]}}')
    put("policies", "empty-rollouts", '{"A": {"rollouts": [[], []]}}')
    put("policies", "not-a-number", '{"A": {"phi": [NaN, Infinity]}}')
    put("policies", "too-large", '{"A": {"phi": [1e999]}}')
    put("policies", "deep", '{"A": {"phi": ' + "[" * 8000)
    put("policies", "deep-objects", '{"A":' * 2000)
    put("policies", "features-differ", '{"A": {"phi": [1]}, "B": {"phi": [1, 2]}}')
    put("policies", "lengths", '{"A": {"phi": [1], "lengths": [1, 2]}}')
    put("policies", "not-utf8", b'{"\xff": {"phi": [1]}}')


def make_zarr():
    def metadata(**changes):
        json_ = {
            "zarr_format": 3, "node_type": "array", "shape": [1, 2, 1], "data_type": "float64",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 2, 1]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0.0,
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "dimension_names": ["chain", "draw", "feature"],
        }
        return json.dumps(json_ | changes).encode()

    def grid(*shape):
        return {"name": "regular", "configuration": {"chunk_shape": list(shape)}}

    chunk = struct.pack("<2d", 1.5, -2.0)
    both = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd"}]
    put("zarr", "valid", metadata() + b"\0" + chunk)
    put("zarr", "nothing", b"")
    put("zarr", "not-json", b"{")
    put("zarr", "brackets", b"[" * 8000)
    put("zarr", "terabytes", metadata(shape=[1, 10**12, 1], chunk_grid=grid(1, 10**12, 1)))
    put("zarr", "many-chunks", metadata(shape=[1, 10**12, 1], chunk_grid=grid(1, 1, 1)))
    put("zarr", "large-chunk", metadata(chunk_grid=grid(1, 10**12, 1)) + b"\0" + chunk)
    put("zarr", "overflow", metadata(shape=[2**62, 4, 4], chunk_grid=grid(2**62, 4, 4)))
    put("zarr", "chunk-overflow", metadata(chunk_grid=grid(2**62, 4, 4)) + b"\0" + chunk)
    put("zarr", "no-chunk-size", metadata(chunk_grid=grid(0, 1, 1)))
    put("zarr", "no-draws", metadata(shape=[1, 0, 2**60], chunk_grid=grid(1, 1, 1)))
    put("zarr", "dimensions", metadata(shape=[2], chunk_grid=grid(2)))
    put("zarr", "scalar", metadata(shape=[], chunk_grid=grid()))
    put("zarr", "many-dimensions", metadata(shape=[1] * 1000, chunk_grid=grid(*[1] * 1000)))
    put("zarr", "negative", metadata(shape=[-1, 2, 1]))
    put("zarr", "short-chunk", metadata() + b"\0" + chunk[:-1])
    put("zarr", "fill-not-a-number", metadata(fill_value="0x7fc00000"))
    put("zarr", "fill-nan", metadata(fill_value="NaN"))
    put("zarr", "codecs-none", metadata(codecs=[]))
    put("zarr", "codecs-unknown", metadata(codecs=[{"name": "blosc"}]))
    put("zarr", "transposed", metadata(dimension_names=["draw", "chain", "feature"]))
    put("zarr", "zstd-not", metadata(codecs=both) + b"\0" + chunk)
    # A frame of one block that repeats a byte, and a header that claims 2^60 bytes.
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 2**60) + b"\x83\xff\xff\x00"
    put("zarr", "zstd-bomb", metadata(codecs=both) + b"\0" + frame)
    big = metadata(shape=[1, 8000000, 1], chunk_grid=grid(1, 8000000, 1), codecs=both)
    put("zarr", "zstd-short", big + b"\0" + frame)


make_npy()
make_npz()
make_safetensors()
make_parquet()
make_csv()
make_preferences()
make_policies()
make_zarr()
