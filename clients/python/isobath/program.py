# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""Calls of the program."""
import json
import os
import shlex
import shutil
import subprocess


class Error(Exception):
    """What the program said when it could not answer; command is what was asked."""

    def __init__(self, message, command=""):
        super().__init__(message)
        self.command = command


def program():
    """The path of the program: the variable ISOBATH, or the one on PATH."""
    path = os.environ.get("ISOBATH") or shutil.which("isobath")
    if not path:
        raise Error("the program isobath is not on PATH; install it, or set ISOBATH to where it is")
    return path


def flags(named):
    """Arguments of Python as flags: by="line" is --by=line, True is the flag alone."""
    out = []
    for name, value in named.items():
        name = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(name)
        elif isinstance(value, (list, tuple)):
            out += [f"{name}={v}" for v in value]
        else:
            out.append(f"{name}={value}")
    return out


# Examples lie in folders that are gone when Python ends; commands that are shown
# name them as the program does.
examples = {}


def call(arguments):
    """Runs a command and returns its standard output as bytes, with the command as text and its notes."""
    command = " ".join(shlex.quote(a) for a in ["isobath", *(examples.get(a, a) for a in arguments)])
    done = subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, capture_output=True)
    notes = [line.removeprefix("isobath: ") for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    if done.returncode != 0:
        raise Error("\n".join(notes) or f"exit code {done.returncode}", command)
    return done.stdout, command, notes


def ask(arguments):
    """Runs a command that prints JSON."""
    out, command, notes = call([*arguments, "--json"])
    return json.loads(out), command, notes
