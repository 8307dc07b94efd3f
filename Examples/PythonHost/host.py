"""A Swift library that serves TCP on the loop of asyncio.

usage: host.py LIBRARY attach|refuse|bridge

attach   on a running uvloop that shares the system's libuv with the library
refuse   on a uvloop that carries a libuv of its own, which the library must not touch
bridge   on any loop of asyncio, which polls the loop of the library
"""

import asyncio
import ctypes
import sys

swift = ctypes.CDLL(sys.argv[1])
callback = ctypes.CFUNCTYPE(None, ctypes.c_int)
done = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
for function in (swift.echo_attach, swift.echo_start):
    function.restype = ctypes.c_void_p


def attach(loop):
    """The library on a uvloop, or the reason why not."""
    from uvloop import loop as module

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    # The copy of libuv that uvloop uses: its own, or the one that it is linked to.
    version = ctypes.CDLL(module.__file__).uv_version_string
    message = ctypes.create_string_buffer(1024)
    uv_loop = pointer(module.libuv_get_loop_t_ptr(loop), None)
    library = swift.echo_attach(ctypes.c_void_p(uv_loop), version, message, len(message))
    return ctypes.c_void_p(library) if library else None, message.value.decode()


async def use(loop, library, changed=lambda: None):
    """asyncio talks to Swift's server, and Swift calls back into asyncio."""
    reader, writer = await asyncio.open_connection("127.0.0.1", swift.echo_port(library))
    for text in (b"hello\n", b"from Python\n"):
        writer.write(text)
        assert await reader.readline() == text
    writer.close()

    called = [loop.create_future() for _ in range(3)]
    order = []

    @callback
    def on_time(milliseconds):
        order.append(milliseconds)
        called[len(order) - 1].set_result(None)

    for milliseconds in (15, 5, 10):
        swift.echo_call_later(library, milliseconds, on_time)
    changed()
    await asyncio.gather(*called)
    assert order == [5, 10, 15], order


async def attached():
    loop = asyncio.get_running_loop()
    for _ in range(20):
        library, message = attach(loop)
        assert library, message
        await use(loop, library)
        ended = loop.create_future()
        on_end = done(lambda _: ended.set_result(None))
        swift.echo_detach(library, on_end, None)
        await ended


async def refused():
    loop = asyncio.get_running_loop()
    library, message = attach(loop)
    assert library is None
    assert message.startswith("the host's loop is of libuv ") and "pollDescriptor" in message, message
    await asyncio.sleep(0.01)


async def bridged():
    loop = asyncio.get_running_loop()
    message = ctypes.create_string_buffer(1024)
    library = ctypes.c_void_p(swift.echo_start(message, len(message)))
    assert library, message.value.decode()
    timer = None

    def turn():
        swift.echo_turn(library)
        arm()

    # To be asked again after each use of the library.
    def arm():
        nonlocal timer
        if timer:
            timer.cancel()
        timeout = swift.echo_poll_timeout(library)
        timer = None if timeout < 0 else loop.call_later(timeout / 1000, turn)

    loop.add_reader(swift.echo_poll_descriptor(library), turn)
    arm()
    await use(loop, library, arm)
    loop.remove_reader(swift.echo_poll_descriptor(library))
    if timer:
        timer.cancel()
    swift.echo_stop(library)


mode = sys.argv[2]
if mode == "bridge":
    asyncio.run(bridged())
else:
    import uvloop

    uvloop.install()
    asyncio.run({"attach": attached, "refuse": refused}[mode]())
print(f"Python, {mode}: passed")
