# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""A run, its columns and its analyses."""
import atexit
import builtins
import json
import os
import shutil
import subprocess
import tempfile

from .answer import Answer, Picture
from .arrow import Table
from .program import Error, ask, call, examples, flags, program


def open(path):
    """Opens a run, any file that isobath reads, or an example: "demo", "demo:messages", …

    A run and an example have their columns at once; a foreign file is imported when a column is asked for.
    """
    path = os.fspath(path)
    if not os.path.lexists(path) and (path == "demo" or path.startswith("demo:")):
        folder = _scratch()
        out, _, _ = call(["demo", path[5:] or "stencil", "--unpack", folder])
        unpacked = out.decode().strip()
        examples[unpacked] = path
        return Run(unpacked)
    if not os.path.exists(path):
        raise FileNotFoundError(path)
    return Run(path)


def diff(a, b, **options):
    """What changed from run a to run b, by groups; see `isobath help diff`."""
    a, b = _run(a), _run(b)
    return _answer("diff", [a.path, b.path], {"where": a.selection or None, **options}, "groups", a.selection)


def study(*runs, **options):
    """Many runs as rows: growth laws, changes, outliers; see `isobath help study`."""
    return _answer("study", [_run(r).path for r in runs], options, "runs", "")


def _run(r):
    return r if isinstance(r, Run) else open(r)


def _scratch():
    folder = tempfile.mkdtemp(prefix="isobath-python-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _answer(verb, words, options, rows, selection):
    found, command, notes = ask([verb, *flags(options), *words])
    listed = found if isinstance(found, list) else found.get(rows) or []
    return Answer(found, listed, command, selection, notes)


def _quoted(value):
    return str(value) if isinstance(value, (int, float)) else '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _clause(column, want):
    """A clause of the selection language from a value of Python."""
    if isinstance(want, tuple) and len(want) == 2:
        low, high = want
        parts = [f"{column} >= {low}" if low is not None else "", f"{column} <= {high}" if high is not None else ""]
        return " & ".join(p for p in parts if p)
    if isinstance(want, range):
        return f"{column} in {want.start}..{want.stop - 1}"
    if isinstance(want, (list, set, frozenset)):
        return f"{column} in ({', '.join(_quoted(v) for v in want)})"
    return f"{column} = {_quoted(want)}"


class Run:
    """A run or a file, with a selection. Every method that analyses calls the program and returns an Answer."""

    def __init__(self, path, selection=""):
        self.path, self.selection = os.fspath(path), selection
        self._tables, self._stored = {}, None

    # Selections

    def where(self, text="", **columns):
        """The same run with a selection: text of the language of --where, or columns:
        where(latency=(200, None), level=["L3", "Local RAM"], cpu=range(0, 11)). Selections narrow.
        """
        clauses = [f"({c})" for c in (self.selection, text) if c] + [_clause(c, w) for c, w in columns.items()]
        joined = clauses[0][1:-1] if len(clauses) == 1 and clauses[0].startswith("(") else " & ".join(clauses)
        return Run(self.path, joined)

    # Columns

    @property
    def manifest(self):
        """What the run says about itself."""
        with builtins.open(os.path.join(self._folder(), "manifest.json")) as f:
            return json.load(f)

    def _folder(self):
        """The folder of the run; a foreign file is imported into a temporary one."""
        if os.path.exists(os.path.join(self.path, "manifest.json")):
            return self.path
        if self._stored is None:
            self._stored = os.path.join(_scratch(), "imported.isobath")
            call(["import", self.path, "-o", self._stored])
        return self._stored

    @property
    def tables(self):
        """The names of the tables of the run."""
        return [t["name"] for t in self.manifest.get("tables", [])]

    def table(self, name=None):
        """A table with its columns: the samples or references unless another is named, of the selection if there is one."""
        name = name or self.tables[0]
        if name not in self._tables:
            entry = next((t for t in self.manifest.get("tables", []) if t["name"] == name), None)
            if entry is None:
                raise KeyError(f"no table {name!r}; there are {', '.join(self.tables)}")
            path = os.path.join(self._folder(), entry["file"])
            if self.selection and name == self.tables[0]:
                path = os.path.join(_scratch(), name + ".arrow")
                call(["export", self.path, "-o", path, "--where=" + self.selection])
            self._tables[name] = Table(path)
        return self._tables[name]

    @property
    def columns(self):
        return list(self.table())

    def column(self, name):
        """A column with its unit and provenance."""
        try:
            return self.table()[name]
        except KeyError:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.columns)}") from None

    def __getitem__(self, name):
        return self.column(name).values

    def __len__(self):
        return len(next(iter(self.table().values()), ()))

    def to_pandas(self, table=None):
        """A table as a DataFrame; categories stay categories."""
        return self.table(table).to_pandas()

    def arrow(self, table=None):
        """A table as a pyarrow.Table over the mapped file. Needs pyarrow."""
        import pyarrow

        return pyarrow.ipc.open_file(pyarrow.memory_map(self.table(table).path)).read_all()

    # Analyses, by the names of the command line

    def ask(self, verb, *words, rows="", **options):
        """Any verb that prints JSON: run.ask("report", by="line"). Flags are named arguments."""
        if self.selection and "where" not in options:
            options["where"] = self.selection
        return _answer(verb, [self.path, *map(str, words)], options, rows, options.get("where") or "")

    def info(self, **options):
        """What the file holds; rows are its columns."""
        return _answer("info", [self.path], options, "columns", "")

    def report(self, by="line", **options):
        """Where the cost goes, ranked by groups."""
        return self.ask("report", rows="groups", by=by, **options)

    def insights(self, **options):
        """What is worth a look in samples, ranked."""
        return self.ask("insights", rows="insights", **options)

    def search(self, text, **options):
        """What a few words select."""
        return _answer("search", [self.path, text], options, "suggestions", "")

    def topology(self, **options):
        """The machine with its samples; rows are resources, outermost first."""
        found = self.ask("topology", **options)
        found.rows = list(_resources(found.json, 0))
        return found

    def metrics(self, **options):
        """A metric over windows of an axis."""
        return self.ask("metrics", rows="windows", **options)

    def clusters(self, **options):
        """Neighbouring windows that behave alike."""
        return self.ask("clusters", rows="clusters", **options)

    def heatmap(self, **options):
        """Samples or latency by time and a column."""
        return self.ask("heatmap", rows="rows", **options)

    def source(self, place, **options):
        """Lines of a source file of the run with what each costs: "solver.c:120"."""
        return self.ask("source", place, rows="lines", **options)

    def callers(self, function, **options):
        """Who called a function."""
        return self.ask("callers", rows="callers", function=function, **options)

    def assembly(self, **options):
        """Instructions of a function with their samples."""
        return self.ask("assembly", rows="instructions", **options)

    def why(self, **options):
        """How the level of a sample was decided."""
        return self.ask("why", **options)

    def diff(self, other, **options):
        """What changed from this run to another."""
        return diff(self, other, **options)

    def steps(self, **options):
        """Messages: who was late and why; rows are what the run would gain without it. ops=True adds every operation."""
        return _answer("steps", [self.path], options, "ops" if options.get("ops") else "gains", "")

    def cycles(self, **options):
        """References: the loops that memory traffic runs in; rows are classes."""
        return _answer("cycles", [self.path], options, "classes", "")

    def loops(self, **options):
        """References: the loops with counts and costs."""
        return _answer("loops", [self.path], options, "loops", "")

    def reuse(self, **options):
        """References: reuse distances by groups."""
        return self.ask("reuse", rows="groups", **options)

    def whatif(self, **options):
        """References: the same on another machine or layout."""
        return self.ask("whatif", rows="groups", **options)

    def advise(self, **options):
        """References: what to change, replayed before the edit."""
        return self.ask("advise", rows="advice", **options)

    def sharing(self, **options):
        """References: cache lines that threads share."""
        return self.ask("sharing", rows="lines", **options)

    def mesh(self, mesh, field="latency_avg", **options):
        """Samples on the cells of a mesh: mesh is a dump, a pattern or a folder. Rows are parts; values=True adds every cell."""
        return self.ask("mesh", rows="parts", mesh=mesh, field=field, **options)

    # Views

    def picture(self, kind="sunburst", **options):
        """The machine with its samples as SVG: sunburst or icicle."""
        if self.selection:
            options["where"] = self.selection
        out, command, notes = call(["topology", self.path, "--svg=" + kind, *flags(options)])
        return Picture(out.decode(), "svg", command, self.selection, self._provenance(), notes)

    def sheet(self, **options):
        """One page about the run, as HTML."""
        name = "sheet.html"
        path = os.path.join(_scratch(), name)
        if self.selection:
            options["where"] = self.selection
        _, command, notes = call(["export", self.path, "-o", path, *flags(options)])
        with builtins.open(path) as f:
            return Picture(f.read(), "html", command.replace(path, name), self.selection, self._provenance(), notes)

    def _provenance(self):
        """That of the latency; empty where there is none."""
        return next((c["provenance"] for c in self.info().json.get("columns") or [] if c["name"] == "latency"), "")

    def show(self, browser=True):
        """Opens the page and returns it; it ends with Python or with .close()."""
        return Page([self.path], browser)

    def __repr__(self):
        return f"<run {examples.get(self.path, self.path)}{' where ' + self.selection if self.selection else ''}>"


def _resources(node, depth):
    yield {"depth": depth, **{k: v for k, v in node.items() if not isinstance(v, (list, dict))}}
    for child in node.get("children") or []:
        yield from _resources(child, depth + 1)


class Page:
    """The page of some files, served on loopback."""

    def __init__(self, paths, browser):
        words = ["open", "--port=0", *([] if browser else ["--no-browser"]), *paths]
        self._served = subprocess.Popen([program(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        atexit.register(self.close)
        self.url = self._served.stdout.readline().decode().strip()
        if not self.url:
            raise Error(f"the page could not be opened (exit code {self._served.wait()})", " ".join(["isobath", *words]))

    def close(self):
        """Ends the server."""
        atexit.unregister(self.close)
        if self._served.poll() is None:
            self._served.terminate()
        self._served.wait()
        self._served.stdout.close()

    def _repr_html_(self):
        return f'<a href="{self.url}" target="_blank">the page</a>'
