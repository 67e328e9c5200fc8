# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""Answers as tables, and pictures, each with where it comes from."""
import html

import numpy as np


def flat(row, prefix=""):
    """A row without objects in it: {"key": {"line": 3}} becomes {"line": 3}, other names are joined by dots."""
    out = {}
    for name, value in row.items():
        if isinstance(value, dict):
            out.update(flat(value, "" if name == "key" else f"{prefix}{name}."))
        else:
            out[prefix + name] = value
    return out


class Provenance:
    """Where something comes from: the command that gives it, the selection, the origin of its numbers."""

    def __init__(self, command, selection="", provenance="", notes=()):
        self.command, self.selection, self.provenance, self.notes = command, selection, provenance, list(notes)

    def badge(self):
        """The badge that stands below a table or picture in a notebook."""
        colour = {"measured": "#15803d", "derived": "#1d4ed8", "modelled": "#b45309"}.get(self.provenance, "#6b7280")
        mark = f'<span style="border:1px solid {colour};color:{colour};border-radius:4px;padding:0 4px">{html.escape(self.provenance or "see columns")}</span>'
        where = f" where <code>{html.escape(self.selection)}</code>" if self.selection else ""
        notes = "".join(f"<br>{html.escape(n)}" for n in self.notes)
        return f'<div style="font-size:85%">{mark}{where} <code>{html.escape(self.command)}</code>{notes}</div>'


class Answer(Provenance):
    """The answer of an analysis: a table of rows, and the whole JSON as `.json`.

    answer["latency"] is a column as a NumPy array, answer[3] a row, len(answer) the number of rows,
    answer.to_pandas() a DataFrame.
    """

    def __init__(self, json, rows, command, selection="", notes=()):
        self.json = json
        self.rows = [flat(r) if isinstance(r, dict) else {"value": r} for r in rows]
        provenance = json.get("provenance", "") if isinstance(json, dict) else ""
        super().__init__(command, selection, provenance if isinstance(provenance, str) else "", notes)

    @property
    def columns(self):
        names = {}
        for row in self.rows:
            names.update(dict.fromkeys(row))
        return list(names)

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, key):
        if isinstance(key, str):
            if self.rows and key not in self.columns:
                raise KeyError(f"no column {key!r}; there are {', '.join(self.columns)}")
            values = [row.get(key) for row in self.rows]
            if values and all(isinstance(v, (int, float, type(None))) and not isinstance(v, bool) for v in values):
                return np.array([np.nan if v is None else v for v in values])
            out = np.empty(len(values), object)
            out[:] = values
            return out
        return self.rows[key]

    def to_pandas(self):
        import pandas

        frame = pandas.DataFrame(self.rows, columns=self.columns)
        frame.attrs.update(command=self.command, selection=self.selection, provenance=self.provenance)
        return frame

    def _repr_html_(self, most=20):
        names = [n for n in self.columns if not any(isinstance(r.get(n), (list, dict)) for r in self.rows)]
        head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(shown(r.get(n)))}</td>" for n in names) + "</tr>" for r in self.rows[:most])
        more = f"<div>… {len(self.rows) - most} more</div>" if len(self.rows) > most else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}{self.badge()}"

    def __repr__(self):
        return f"<{len(self.rows)} rows of {self.command}>"


def shown(value):
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


class Picture(Provenance):
    """A view as SVG or HTML, shown by notebooks with the command that draws it."""

    def __init__(self, text, kind, command, selection="", provenance="", notes=()):
        self.text, self.kind = text, kind
        super().__init__(command, selection, provenance, notes)

    def save(self, path):
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.text)

    def _repr_html_(self):
        if self.kind == "svg":
            return self.text[self.text.find("<svg"):] + self.badge()
        return f'<iframe sandbox="" style="width:100%;height:700px;border:1px solid #ccc" srcdoc="{html.escape(self.text, quote=True)}"></iframe>{self.badge()}'

    def __repr__(self):
        return f"<{self.kind} of {self.command}>"
