# Python of all kinds, for a recorder that says which functions run at which lines.
# "truth" prints which calls and lines there are; a number of seconds does them.
import functools
import json
import sys
import threading
import time


def busy(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s


def recurse(k, n):
    if k == 0:
        return busy(n)
    return recurse(k - 1, n)


def even(k, n):
    return busy(n) if k == 0 else odd(k - 1, n)


def odd(k, n):
    return busy(n) if k == 0 else even(k - 1, n)


def numbers(n):
    for i in range(n):
        yield i * i


def delegated(n):
    yield from numbers(n)
    yield from (i + 1 for i in range(n))


def generators(n):
    s = 0
    for v in delegated(n):
        s += v
    return s


def key(v):
    return v * 7 % 13


def sorting(n):
    return sorted(range(n), key=key)[0]


def folding(n):
    return functools.reduce(lambda a, b: a + b, map(key, range(n)))


class Number:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return self.v < other.v

    def __del__(self):
        Number.last = self.v

    @property
    def twice(self):
        return self.v * 2


def objects(n):
    return sorted(
        Number(i % 17)
        for i in range(n)
    )[0].twice


def thrower(k):
    if k == 0:
        raise ValueError(k)
    try:
        thrower(k - 1)
    finally:
        k += 1


def exceptions(n):
    for i in range(n // 50):
        try:
            thrower(5)
        except ValueError as e:
            e.args = ()


def comprehension(n):
    return sum([key(i) for i in range(n)])


def names(n):
    def größe(i):
        return i + n
    s = 0
    for i in range(n):
        s += größe(i)
    return s


WORK = [
    lambda n: recurse(5, n),
    lambda n: recurse(90, n),
    lambda n: even(7, n),
    lambda n: odd(8, n),
    generators,
    sorting,
    folding,
    objects,
    exceptions,
    comprehension,
    names,
]


def each(n):
    for f in WORK:
        f(n)


def worker(until, n):
    while True:
        each(n)
        if time.monotonic() > until:
            break


class Tracer:
    def __init__(self):
        self.calls, self.lines = set(), set()

    def name(self, frame):
        return getattr(frame.f_code, "co_qualname", frame.f_code.co_name)

    def __call__(self, frame, event, arg):
        if frame.f_code.co_filename != __file__:
            return None
        frame.f_trace_opcodes = True
        here = self.name(frame)
        self.lines.add((here, frame.f_code.co_firstlineno))
        self.lines.add((here, frame.f_lineno or 0))
        back = frame.f_back
        if back is not None and back.f_code.co_filename == __file__:
            self.calls.add((self.name(back), here))
        return self


def truth():
    tracer = Tracer()
    threading.settrace(tracer)
    sys.settrace(tracer)
    main(0, 60, 1, 100)
    sys.settrace(None)
    threading.settrace(None)
    json.dump({"calls": sorted(tracer.calls), "lines": sorted(tracer.lines)}, sys.stdout)


def main(seconds, first, step, own):
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=worker, args=(until, first + step * i)) for i in range(4)]
    for t in threads:
        t.start()
    worker(until, own)
    for t in threads:
        t.join()


if sys.argv[1] == "truth":
    truth()
else:
    main(float(sys.argv[1]), 500, 300, 900)
    print("done")
