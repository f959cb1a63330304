"""reshard_jax.py - moves of a square matrix of doubles from one sharding to another by JAX, on CPU
devices of one process, against memcpy of what each device gets.

    bench/reshard-jax [DEVICES] [--quick | --once]

The lines are those of bench/reshard, with JAX in the place of ours: the ratio is above 1 where JAX
is faster than memcpy. JAX's results are always new arrays, so what compares is the line there that
ends in "new array"; its ratio over this one says how much faster ours is, whatever the machine did
in between. GLIBC_TUNABLES=glibc.malloc.hugetlb=1 gives JAX large pages.
"""

import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

EFFORTS = {"": (31, 20e-3), "--quick": (11, 5e-3), "--once": (1, 0)}
LINE_PAIRS = [(("x", None), (None, "x")), (("x", None), (None, None))]
GRID_PAIRS = [
    ((("x", "y"), None), ("x", "y")),
    ((None, ("x", "y")), ("x", "y")),
    (("x", "y"), (("x", "y"), None)),
    (("x", "y"), (None, ("x", "y"))),
    (("x", "y"), ("x", None)),
]
SMALL, MEDIUM, LARGE = 256, 2048, 8192  # rows and columns
THREAD_BYTES = 1 << 20  # a copy of less takes no longer than to wake a thread for it


def refuse(message, status):
    print(message, file=sys.stderr)
    sys.exit(status)


def arguments():
    devices, option = 2, ""
    for argument in sys.argv[1:]:
        if argument.isdecimal() and int(argument) > 0:
            devices = int(argument)
        elif argument in EFFORTS:
            option = argument
        else:
            refuse("use: reshard-jax [DEVICES] [--quick | --once]", 2)
    if SMALL % devices != 0:
        refuse(f"reshard-jax: JAX cuts evenly only, and {devices} devices do not divide {SMALL}", 2)
    return devices, option


def load_jax(devices):
    """JAX reads its settings when it is loaded."""
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count={devices}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_ENABLE_X64"] = "1"
    try:
        import jax
    except ImportError as error:
        refuse(f"reshard-jax: {sys.executable} has no JAX ({error})", 77)
    return jax


def time_batch(run, calls):
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def calls_for(run, seconds):
    calls = 1
    while calls < 1 << 20 and time_batch(run, calls) * calls < seconds:
        calls *= 2
    return calls


def contest(effort, ours, rival):
    """Seconds of each: medians of batches that take turns."""
    repetitions, seconds = effort
    our_calls, rival_calls = calls_for(ours, seconds), calls_for(rival, seconds)
    times = [(time_batch(ours, our_calls), time_batch(rival, rival_calls)) for _ in range(repetitions)]
    return [statistics.median(column) for column in zip(*times)]


class Move:
    """The source on its devices, the ways to the target, and the yardstick's memory."""

    def __init__(self, jax, mesh, n, source, target):
        import numpy

        spec = jax.sharding.PartitionSpec
        matrix = numpy.arange(n * n, dtype=numpy.float64).reshape(n, n)
        self.jax = jax
        self.array = jax.device_put(matrix, jax.sharding.NamedSharding(mesh, spec(*source)))
        self.target = jax.sharding.NamedSharding(mesh, spec(*target))
        self.jitted = jax.jit(lambda array: array, out_shardings=self.target)
        self.devices = mesh.size
        self.bytes = numpy.prod(self.target.shard_shape((n, n))) * 8
        self.blocks = [(numpy.ones(self.bytes // 8), numpy.ones(self.bytes // 8)) for _ in mesh.devices.flat]
        self.threads = ThreadPoolExecutor(self.devices)
        self.copy = numpy.copyto
        for result in (self.device_put(), self.jit()):
            assert result.sharding == self.target and numpy.array_equal(result, matrix)

    def device_put(self):
        return self.jax.device_put(self.array, self.target).block_until_ready()

    def jit(self):
        return self.jitted(self.array).block_until_ready()

    def memcpy(self):
        run = map if self.bytes < THREAD_BYTES else self.threads.map
        for _ in run(lambda block: self.copy(*block), self.blocks):
            pass


def spell(entries):
    """A spec as bench/reshard spells it."""
    names = ["-" if entry is None else entry if isinstance(entry, str) else f"({';'.join(entry)})" for entry in entries]
    return f"P({';'.join(names)})"


def compare(jax, effort, mesh, n, pair):
    move = Move(jax, mesh, n, *pair)
    axes = "x=*" if len(mesh.axis_names) == 1 else "x=*;y=2"
    measure = f"reshard {n}x{n} {axes}: {spell(pair[0])} to {spell(pair[1])}"
    for way, run in (("device_put", move.device_put), ("jit with out_shardings", move.jit)):
        ours, rival = contest(effort, run, move.memcpy)
        total = move.bytes * move.devices
        print(f"{measure}; {way},{move.devices},{total},{ours:.3e},memcpy,{rival:.3e},{rival / ours:.3g}", flush=True)


def main():
    count, option = arguments()
    jax = load_jax(count)
    devices = jax.devices()
    print("measure,devices,bytes,jax_s,rival,rival_s,ratio")
    print(f"# JAX {jax.__version__}")
    for n in (SMALL, MEDIUM if option else LARGE):
        for pair in LINE_PAIRS:
            compare(jax, EFFORTS[option], jax.make_mesh((count,), ("x",)), n, pair)
        for pair in GRID_PAIRS if count % 2 == 0 else []:
            compare(jax, EFFORTS[option], jax.make_mesh((count // 2, 2), ("x", "y")), n, pair)


main()
