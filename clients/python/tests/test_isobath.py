# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""Tests of the package with the real program; ISOBATH names it, FIXTURES has traces."""
import csv
import importlib.util
import io
import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import isobath
from isobath import arrow

FIXTURES = os.environ["FIXTURES"]


def exported(path, *more):
    """The rows of a run as the program writes them for others: independent of our reader."""
    out = subprocess.run([isobath.program(), "export", path, "-o", "-", *more], capture_output=True, check=True).stdout.decode()
    return list(csv.DictReader(io.StringIO(out)))


class Columns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = isobath.open("demo")
        cls.rows = exported(cls.run_.path)

    def test_every_value_is_the_exported_one(self):
        run, rows = self.run_, self.rows
        self.assertEqual(len(run), len(rows))
        self.assertGreater(len(run.columns), 20)
        for name in run.columns:
            column = run.column(name)
            got = np.ma.asarray(column.values)
            missing = np.ma.getmaskarray(got)
            for i in range(0, len(rows), 97):
                text = rows[i][name]
                with self.subTest(column=name, row=i):
                    if missing[i]:
                        self.assertEqual(text, "")
                    elif column.categories is not None:
                        self.assertEqual(str(got[i]), text)
                    elif column.kind == "address":
                        self.assertEqual(int(got[i]), int(text, 16))
                    elif column.kind == "flag":
                        self.assertEqual(bool(got[i]), text in ("1", "true"))
                    else:
                        self.assertEqual(float(got[i]), float(text))

    def test_columns_know_what_they_are(self):
        latency = self.run_.column("latency")
        self.assertEqual((latency.unit, latency.provenance, latency.kind), ("cycles", "modelled", "number"))
        self.assertFalse(latency.raw.flags.writeable)
        with self.assertRaisesRegex(KeyError, "latancy"):
            self.run_["latancy"]

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed; Debian has no package of it")
    def test_arrow_has_the_values_of_our_reader(self):
        table = self.run_.arrow()
        self.assertEqual((table.num_rows, table.column_names), (len(self.run_), list(self.run_.columns)))
        for name in table.column_names:
            ours, theirs = np.ma.asarray(self.run_[name]), table[name]
            missing = np.ma.getmaskarray(ours)
            self.assertEqual(theirs.null_count, int(missing.sum()), name)
            for i in range(0, len(ours), 97):
                self.assertEqual(theirs[i].as_py(), None if missing[i] else ours[i].item() if hasattr(ours[i], "item") else ours[i], name)

    @unittest.skipIf(importlib.util.find_spec("pyarrow"), "pyarrow is installed")
    def test_arrow_without_pyarrow_says_so(self):
        with self.assertRaisesRegex(ImportError, "pyarrow"):
            self.run_.arrow()

    def test_missing_values_are_missing_in_pandas_too(self):
        x, frame = self.run_["x"], self.run_.to_pandas()
        self.assertEqual(int(np.ma.count_masked(x)), int(frame["x"].isna().sum()))
        self.assertGreater(np.ma.count_masked(x), 0)
        self.assertEqual(frame["level"].value_counts().to_dict(),
                         {n: sum(r["level"] == n for r in self.rows) for n in frame["level"].cat.categories})

    def test_damage_is_said(self):
        with builtins_open(os.path.join(self.run_.path, "samples.arrow")) as f:
            whole = f.read()
        for name, text in {"cut": whole[:len(whole) // 2], "empty": b"x" * 30, "tail": whole[:-5], "footer": whole[:-10] + b"\xff\xff\xff\x7fARROW1"}.items():
            with self.subTest(name), tempfile.NamedTemporaryFile() as f:
                f.write(text)
                f.flush()
                with self.assertRaises(arrow.Damaged):
                    isobath.Table(f.name)
        rng = np.random.default_rng(3)
        for at in rng.integers(len(whole) - 4000, len(whole), 60):  # flipped bytes in the footer: an error or a table, nothing else
            with tempfile.NamedTemporaryFile() as f:
                f.write(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
                f.flush()
                try:
                    isobath.Table(f.name)
                except (arrow.Damaged, KeyError, UnicodeDecodeError, ValueError, AttributeError, TypeError):
                    pass


def builtins_open(path):
    import builtins

    return builtins.open(path, "rb")


class Selections(unittest.TestCase):
    def test_the_same_rows_as_numpy(self):
        run = isobath.open("demo")
        latency, cpu, level = run["latency"], run["cpu"], run["level"]
        want = (latency >= 200) & (cpu >= 0) & (cpu <= 10) & np.isin(level.astype(str), ["Local RAM", "Remote RAM"])
        slow = run.where(latency=(200, None), cpu=range(0, 11), level=["Local RAM", "Remote RAM"])
        self.assertEqual(slow.report().json["samples"], int(want.sum()))
        self.assertEqual(len(slow), int(want.sum()))
        np.testing.assert_array_equal(slow["latency"], latency[want])
        narrower = slow.where("function = sweep | line < 20")
        self.assertEqual(narrower.report().json["samples"], int((want & ((run["function"] == "sweep") | (run["line"] < 20))).sum()))

    def test_a_wrong_one_is_the_programs_sentence(self):
        with self.assertRaisesRegex(isobath.Error, "latancy.*did you mean"):
            isobath.open("demo").where("latancy > 3").report()


class Analyses(unittest.TestCase):
    def test_samples(self):
        run = isobath.open("demo")
        report = run.report(by="symbol")
        by_hand = {s: int(run["latency"][run["symbol"] == s].sum()) for s in ("u", "unew")}
        got = {r["symbol"]: r["latency"] for r in report}
        self.assertEqual({s: got[s] for s in by_hand}, by_hand)
        frame = report.to_pandas()
        self.assertEqual(list(frame["latency"]), sorted(frame["latency"], reverse=True))
        self.assertEqual(frame.attrs["provenance"], "modelled")
        self.assertIn("modelled", report._repr_html_())
        self.assertIn("isobath report", report._repr_html_())
        self.assertIn("first-touch", run.insights()["kind"])
        self.assertEqual(len(run.metrics(windows=10)), 10)
        self.assertEqual(len(run.clusters(cut=3)), 3)
        self.assertGreater(len(run.heatmap(windows=5)), 10)
        self.assertEqual(run.topology()[0]["type"], "Machine")
        self.assertGreater(run.search("remote memory").rows[0]["samples"], 0)
        self.assertIn("stencil", run.source("stencil.c:104", context=1).json["file"])
        self.assertEqual(len(run.source("stencil.c:104", context=1)), 3)
        self.assertTrue(run.why(row=3).json["why"])
        self.assertGreater(len(run.assembly(function="sweep")), 1)
        self.assertEqual(len(run.info()), len(run.columns))

    def test_commands_of_examples_outlive_python(self):
        a, b = isobath.open("demo"), isobath.open("demo:fixed")
        for answer, words in [(a.report(by="line", top=2), ["demo"]), (isobath.diff(a, b), ["demo", "demo:fixed"]), (a.picture("icicle"), ["demo"])]:
            asked = shlex.split(answer.command)
            self.assertEqual([w for w in asked if w.startswith("demo")], words)
            again = subprocess.run([isobath.program(), *asked[1:]], capture_output=True, check=True)
            if "--json" in asked and "diff" not in asked:
                self.assertEqual(json.loads(again.stdout), answer.json)
        self.assertEqual(repr(a), "<run demo>")

    def test_diff_and_study(self):
        a, b = isobath.open("demo"), isobath.open("demo:fixed")
        found = a.diff(b, top=3)
        self.assertEqual(found.json["whole"]["verdict"], "less")
        self.assertEqual(int(found[0]["line"]), 104)
        self.assertEqual(len(isobath.study(a, b)), 2)

    def test_messages(self):
        trace = isobath.open("demo:messages")
        gains = trace.steps(top=3)
        self.assertEqual(gains[0]["processes"], [3])  # the rank that was delayed
        ops = trace.steps(ops=True)
        self.assertEqual(len(set(ops["process"].astype(int))), 8)

    def test_references(self):
        trace = isobath.open(os.path.join(FIXTURES, "locality", "traces", "aos_soa.csv.gz"))
        self.assertEqual(trace.advise(machine="classic")[0]["object"], "p")
        self.assertEqual(sum(trace.reuse(machine="classic", by="object", top=0)["references"]), trace.reuse(machine="classic").json["references"])
        self.assertGreater(len(trace.loops()), 0)
        self.assertGreater(len(trace.whatif(topology="classic", base="zen3")), 0)
        shared = isobath.open(os.path.join(FIXTURES, "locality", "traces", "share8.csv.gz"))
        self.assertEqual(len(shared.sharing()), 1)
        loops = isobath.open("demo:cycles")
        self.assertEqual({int(t) for t in loops.cycles()["turns"]} & {64, 16, 4}, {64, 16, 4})
        self.assertEqual(loops.tables[0], "refs")
        self.assertEqual(len(loops), loops.cycles().json["references"])

    def test_meshes(self):
        run, dumps = isobath.open("demo"), isobath.open("demo:mesh")
        found = run.mesh(dumps.path, per_cell="24x1x12", field="samples")
        self.assertGreater(found.json["covered"], 0)

    def test_views(self):
        run = isobath.open("demo").where("level = L3")
        picture = run.picture("icicle")
        self.assertTrue(picture.text.lstrip().startswith(("<?xml", "<svg")))
        self.assertIn("modelled", picture._repr_html_())
        self.assertIn("level = L3", picture._repr_html_())
        self.assertIn("<iframe", isobath.open("demo").sheet()._repr_html_())

    def test_the_page_is_shown_and_ends(self):
        page = isobath.open("demo").show(browser=False)
        self.assertRegex(page.url, r"^http://127\.0\.0\.1:\d+/#k=")
        served = page._served
        page.close()
        self.assertIsNotNone(served.poll())

    def test_foreign_files(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
            f.write("time,cpu,latency,level\n1,0,10,L1\n2,1,,L2\n3,1,30,L3\n")
            f.flush()
            run = isobath.open(f.name)
            self.assertEqual(list(run["latency"].filled(-1)), [10, -1, 30])
            self.assertEqual(run.column("latency").provenance, "unknown")
        with self.assertRaises(FileNotFoundError):
            isobath.open("/nowhere/at/all")

    def test_every_verb_is_a_method(self):
        """What the program can answer in JSON about data can be asked here."""
        text = subprocess.run([isobath.program(), "help"], capture_output=True, check=True).stdout.decode()
        verbs = [line.split()[0] for line in text.split("Available Commands:")[1].split("Flags:")[0].splitlines() if line.strip()]
        others = {"ab", "cc", "completion", "demo", "doctor", "engine", "export", "formats", "guide", "help", "import", "mcp", "open", "record", "serve", "version"}
        missing = [v for v in verbs if v not in others and not hasattr(isobath.Run, v) and not hasattr(isobath, v)]
        self.assertEqual(missing, [])


class Package(unittest.TestCase):
    def test_installs_without_network(self):
        """pip builds and installs the package with no index, in a Python that has nothing of ours."""
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
        env = {k: v for k, v in os.environ.items() if not k.startswith("PIP_") and k != "PYTHONPATH"}
        env.update(PIP_NO_INDEX="1", PYTHONDONTWRITEBYTECODE="1")
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", folder, source]
            done = subprocess.run(pip, capture_output=True, env=env)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            code = "import importlib.metadata as m, isobath; print(isobath.__file__, m.version('isobath'), m.requires('isobath'))"
            env["PYTHONPATH"] = folder
            said = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, cwd=folder, check=True).stdout.decode()
            self.assertTrue(said.startswith(folder), said)
            for part in ("0.1.0", "'numpy'", 'pandas; extra == "pandas"', 'pyarrow; extra == "arrow"'):
                self.assertIn(part, said)
            with open(os.path.join(folder, "isobath", "run.py"), "rb") as a, open(os.path.join(source, "isobath", "run.py"), "rb") as b:
                self.assertEqual(a.read(), b.read())


if __name__ == "__main__":
    unittest.main()
