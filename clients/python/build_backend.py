# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""Builds the package without other packages (PEP 517 and 660), so that pip needs no network for it.

The project table of pyproject.toml is the source of what the package says about itself. Its strings and
lists are also JSON, which every Python reads; TOML only those from 3.11 on.
"""
import base64
import hashlib
import io
import json
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
OLDEST = (1980, 1, 1, 0, 0, 0)  # of a zip archive: equal sources make equal wheels


def _tables():
    """The tables of pyproject.toml by name, with those values that are JSON."""
    tables, table = {}, {}
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as f:
        for line in f:
            head = re.match(r"\[([\w.-]+)\]\s*$", line)
            if head:
                table = tables.setdefault(head.group(1), {})
            elif "=" in line:
                key, value = line.split("=", 1)
                try:
                    table[key.strip()] = json.loads(value)
                except ValueError:
                    pass  # inline tables, which say nothing that metadata needs
    return tables


def _project():
    tables = _tables()
    return tables["project"], tables.get("project.optional-dependencies", {})


def _metadata():
    project, extras = _project()
    lines = ["Metadata-Version: 2.1", "Name: " + project["name"], "Version: " + project["version"],
             "Summary: " + project["description"], "License: Apache-2.0", "Requires-Python: " + project["requires-python"]]
    lines += ["Requires-Dist: " + name for name in project["dependencies"]]
    for extra, names in extras.items():
        lines.append("Provides-Extra: " + extra)
        lines += ['Requires-Dist: %s; extra == "%s"' % (name, extra) for name in names]
    return "\n".join(lines) + "\n"


def _stem():
    project, _ = _project()
    return "%s-%s" % (project["name"], project["version"])


def _sources():
    """Names and contents of the package's files."""
    folder = os.path.join(HERE, _project()[0]["name"])
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), "rb") as f:
                yield os.path.basename(folder) + "/" + name, f.read()


def _wheel(directory, files):
    info = _stem() + ".dist-info/"
    files = list(files) + [
        (info + "METADATA", _metadata().encode()),
        (info + "WHEEL", b"Wheel-Version: 1.0\nGenerator: isobath\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
    ]
    record = ""
    for name, content in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (name, digest, len(content))
    files.append((info + "RECORD", (record + info + "RECORD,,\n").encode()))
    wheel = _stem() + "-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, wheel), "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in files:
            z.writestr(zipfile.ZipInfo(name, OLDEST), content, zipfile.ZIP_DEFLATED)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, _sources())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, [("isobath-source.pth", (HERE + "\n").encode())])


def build_sdist(sdist_directory, config_settings=None):
    archive = _stem() + ".tar.gz"
    files = [("PKG-INFO", _metadata().encode())] + list(_sources())
    for name in ("pyproject.toml", "build_backend.py"):
        with open(os.path.join(HERE, name), "rb") as f:
            files.append((name, f.read()))
    with tarfile.open(os.path.join(sdist_directory, archive), "w:gz", format=tarfile.PAX_FORMAT) as t:
        for name, content in files:
            member = tarfile.TarInfo(_stem() + "/" + name)
            member.size = len(content)
            t.addfile(member, io.BytesIO(content))
    return archive
