"""Runs one game of ale-py for brex: requests of two bytes come in, screens go out.

brex starts this as `python -u -c THIS play ROM` and talks to it over two pipes; what is written and
read is said in protocol.rs. `python -u -c THIS check ROM...` only says what is installed. It has to be
readable by old Pythons too, so that it can say that they are too old.
"""
import sys

# With -c, the folder that brex runs in would come first: a file numpy.py there must not be found.
sys.path = [folder for folder in sys.path if folder]

import os
import signal
import struct

OLDEST = (3, 10)
RESET, STEP = 0, 1
ROWS, COLUMNS = 210, 160
HEADER = struct.Struct("<4siHBB")

# Whatever prints must not come between the answers: standard output becomes standard error.
OUT = os.dup(1)
os.dup2(2, 1)
if os.name == "nt":
    import msvcrt

    msvcrt.setmode(OUT, os.O_BINARY)
    msvcrt.setmode(0, os.O_BINARY)


def send(data):
    data = memoryview(data)
    while len(data):
        data = data[os.write(OUT, data) :]


def send_text(magic, text):
    data = text.encode("utf-8", "replace")
    send(magic + struct.pack("<I", len(data)) + data)


def fail(what, why):
    send_text(b"brxe", what + "\n" + str(why))
    sys.exit(1)


if sys.version_info < OLDEST:
    fail("python", ".".join(str(part) for part in sys.version_info[:3]))
try:
    import numpy as np
except ImportError as error:
    fail("numpy", error)
# ale-py imports gymnasium if it is there, which takes longer than all the rest and is not needed.
sys.modules["gymnasium"] = None
try:
    import ale_py
    from ale_py import roms
except ImportError as error:
    fail("ale-py", error)


def rom_path(name):
    """The file of a ROM, or why there is none."""
    try:
        path = roms.get_rom_path(name)
    except Exception as error:
        return None, str(error)
    return path, "unknown to this ale-py"


def versions():
    python = ".".join(str(part) for part in sys.version_info[:3])
    return "\n".join([python, ale_py.__version__, np.__version__])


def check(names):
    missing = [name for name in names if rom_path(name)[0] is None]
    send_text(b"brxh", versions() + "\n" + " ".join(missing))


class Game:
    def __init__(self, name):
        path, why = rom_path(name)
        if path is None:
            fail("rom", why)
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        self.ale = ale = ale_py.ALEInterface()
        # A fixed seed: without sticky actions these games do not depend on it, and zero means the time.
        ale.setInt("random_seed", 1)
        ale.setFloat("repeat_action_probability", 0.0)
        ale.loadROM(path)
        if tuple(ale.getScreenDims()) != (ROWS, COLUMNS):
            fail("rom", "its screen is %d x %d" % tuple(ale.getScreenDims()))
        self.actions = list(ale.getMinimalActionSet())
        self.names = [action.name for action in self.actions]
        # Resetting alone leaves traces of the episode before; loading again takes 85 ms, this 5.
        self.start = ale.cloneState(include_rng=True)
        self.before = np.zeros((ROWS, COLUMNS), np.uint8)
        self.last = np.zeros((ROWS, COLUMNS), np.uint8)
        self.answer = bytearray(HEADER.size + ROWS * COLUMNS)
        pixels = np.frombuffer(self.answer, np.uint8, offset=HEADER.size)
        self.picture = pixels.reshape(ROWS, COLUMNS)

    def step(self, index):
        """Four frames of one action; the picture is the brighter of the last two. A game that is
        over stands still."""
        ale, action = self.ale, self.actions[index]
        reward = ale.act(action) + ale.act(action) + ale.act(action)
        ale.getScreenGrayscale(self.before)
        reward += ale.act(action)
        ale.getScreenGrayscale(self.last)
        np.maximum(self.before, self.last, out=self.picture)
        return reward

    def reset(self, noops):
        """Some single frames of nothing, then FIRE and the third action where there is FIRE."""
        ale = self.ale
        ale.restoreState(self.start)
        ale.reset_game()
        for _ in range(noops):
            ale.act(self.actions[0])
            if ale.game_over():
                ale.reset_game()
        ale.getScreenGrayscale(self.picture)
        if "FIRE" in self.names:
            for index in (1, 2):
                self.step(index)
                if ale.game_over():
                    ale.reset_game()

    def serve(self):
        ale, answer = self.ale, self.answer
        while True:
            request = os.read(0, 2)
            if len(request) == 1:
                request += os.read(0, 1)
            if len(request) < 2:
                return
            kind, value = bytearray(request)
            reward = 0
            if kind == STEP:
                reward = self.step(value)
            else:
                self.reset(value)
            HEADER.pack_into(answer, 0, b"brxf", reward, ale.lives(), ale.game_over(), 0)
            send(answer)


# Ctrl-C is for brex, which closes the pipe when it has done what it wants to do.
signal.signal(signal.SIGINT, signal.SIG_IGN)
if sys.argv[1] == "check":
    check(sys.argv[2:])
else:
    game = Game(sys.argv[2])
    send_text(b"brxh", versions() + "\n" + " ".join(game.names))
    game.serve()
