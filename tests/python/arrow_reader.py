# SPDX-License-Identifier: BSD-3-Clause
"""
A consumer of the Arrow C stream interface that knows nothing of the package: the structs of the specification, by ctypes.
"""

import ctypes as c
import gc
import threading


class Schema(c.Structure):
    pass


class Array(c.Structure):
    pass


class Stream(c.Structure):
    pass


Schema._fields_ = [("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_char_p), ("flags", c.c_int64), ("n_children", c.c_int64),
                   ("children", c.POINTER(c.POINTER(Schema))), ("dictionary", c.POINTER(Schema)),
                   ("release", c.CFUNCTYPE(None, c.POINTER(Schema))),
                   ("private_data", c.c_void_p)]
Array._fields_ = [("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64), ("n_buffers", c.c_int64), ("n_children", c.c_int64),
                  ("buffers", c.POINTER(c.c_void_p)), ("children", c.POINTER(c.POINTER(Array))), ("dictionary", c.POINTER(Array)),
                  ("release", c.CFUNCTYPE(None, c.POINTER(Array))), ("private_data", c.c_void_p)]
Stream._fields_ = [("get_schema", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Schema))),
                   ("get_next", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Array))),
                   ("get_last_error", c.CFUNCTYPE(c.c_char_p, c.POINTER(Stream))),
                   ("release", c.CFUNCTYPE(None, c.POINTER(Stream))), ("private_data", c.c_void_p)]
TYPES = {b"C": c.c_uint8, b"S": c.c_uint16, b"I": c.c_uint32, b"L": c.c_uint64, b"l": c.c_int64, b"i": c.c_int32, b"g": c.c_double}
pointer_of = c.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = c.c_void_p, [c.py_object, c.c_char_p]


def bit(address, number):
    return bool(c.c_uint8.from_address(address + number // 8).value >> number % 8 & 1)


def items(kind, array):
    """The elements of one column."""
    count, buffers, format = array.length, array.buffers, kind.format
    if format in (b"U", b"u"):
        offsets = ((c.c_int64 if format == b"U" else c.c_int32) * (count + 1)).from_address(buffers[1])
        found = [c.string_at(buffers[2] + offsets[i], offsets[i + 1] - offsets[i]).decode() for i in range(count)]
    elif format == b"b":
        found = [bit(buffers[1], i) for i in range(count)]
    else:
        found = list((TYPES[format] * count).from_address(buffers[1]))
    if kind.dictionary:
        words = items(kind.dictionary.contents, array.dictionary.contents)
        assert len(set(words)) == len(words), "a dictionary has each word once"
        found = [words[i] if i < len(words) else None for i in found]
    if buffers[0]:
        found = [item if bit(buffers[0], i) else None for i, item in enumerate(found)]
        assert array.null_count in (-1, found.count(None))
    assert all(buffers[i] is None or buffers[i] % 64 == 0 for i in range(array.n_buffers)), "buffers are aligned"
    return found


def batches_of(stream):
    """All batches, to be released."""
    found = []
    while True:
        array = Array()
        if stream.contents.get_next(stream, array) != 0:
            raise OSError((stream.contents.get_last_error(stream) or b"").decode("utf-8", "replace"))
        if not array.release:
            return found
        found.append(array)


def opened(table):
    """The capsule and the stream in it."""
    capsule = table.__arrow_c_stream__()
    return capsule, c.cast(pointer_of(capsule, b"arrow_array_stream"), c.POINTER(Stream))


def consume(table):
    """What a stream holds, as columns. Released on another thread, after the capsule."""
    capsule, stream = opened(table)
    schema = Schema()
    assert stream.contents.get_schema(stream, schema) == 0 and schema.format == b"+s"
    batches = batches_of(stream)
    del stream, capsule
    gc.collect()
    columns = {}
    for number in range(schema.n_children):
        kind = schema.children[number].contents
        columns[kind.name.decode()] = [item for array in batches for item in items(kind, array.children[number].contents)]

    def release():
        for array in batches:
            array.release(array)
        schema.release(schema)
    thread = threading.Thread(target=release)
    thread.start()
    thread.join()
    assert not any(array.release for array in batches) and not schema.release
    return columns
