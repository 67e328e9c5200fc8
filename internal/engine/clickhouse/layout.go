package clickhouse

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// schemaVersion is the version of what this program writes; docs/formats.md has the
// history. A newer one is refused.
const schemaVersion = 2

// zeroSchema is the first whose rows are surely 0 where they have no value.
const zeroSchema = 2

// document is what a run says about itself in the list of runs.
type document struct {
	Schema   int          `json:"schema"`
	Run      string       `json:"run"`
	Attempt  string       `json:"attempt"` // names the tables of the run
	Digest   string       `json:"digest"`  // of the contents: a second import changes nothing
	Cluster  string       `json:"cluster,omitempty"`
	Shards   int          `json:"shards"`
	Manifest run.Manifest `json:"manifest"`
	Table    string       `json:"table"`
	Rows     int          `json:"rows"`
	Columns  []columnForm `json:"columns"`
	// Places are the places of the codes in the column place; Placed says that
	// there is one.
	Places []hw.Place `json:"places,omitempty"`
	Placed bool       `json:"placed"`
	Others []string   `json:"others,omitempty"` // tables beside the one of rows
	// Stored is the type of columns of the table of rows that are narrower there than
	// their values can be. What a run is does not depend on it.
	Stored map[string]string `json:"stored,omitempty"`
}

// columnForm is how a column is kept: as c0, c1, …; with p0, p1, … that say which
// rows have a value, unless all do; and with b0, b1, … that hold the bin of the
// axis as it is usually divided.
type columnForm struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Type       string `json:"type"` // int32, int64, float64, category, flag or address
	Unit       string `json:"unit,omitempty"`
	Provenance string `json:"provenance"`
	Label      string `json:"label,omitempty"`
	Note       string `json:"note,omitempty"`
	Base       uint64 `json:"base,omitempty"`
	Holes      bool   `json:"holes,omitempty"`

	number int
	stored string // type on the server, if it is a narrower one
	zeroed bool   // whole numbers are 0 in rows without a value
}

// described is the piece of a column that says what its values are like.
type described struct {
	Division query.Summary `json:"division"`
	Missing  int           `json:"missing"`
	Distinct int           `json:"distinct"`
	Min      string        `json:"min,omitempty"`
	Max      string        `json:"max,omitempty"`
	IDLike   bool          `json:"id_like,omitempty"`
	// Usual is the axis whose bins are kept with the rows.
	Usual []uint64 `json:"usual,omitempty"` // edges, as the bits of floats
	Names []uint16 `json:"names,omitempty"` // bins of the names
	Bins  int      `json:"bins"`
}

func formOf(i int, c *table.Column) columnForm {
	return columnForm{
		Name: c.Name, Kind: c.Kind.String(), Type: dataType(c), Unit: c.Unit, Provenance: c.Provenance.String(),
		Label: c.Label, Note: c.Note, Base: c.Base, Holes: hasHoles(c), number: i,
	}
}

func dataType(c *table.Column) string {
	switch c.Data.(type) {
	case []int32:
		return "int32"
	case []int64:
		return "int64"
	case []float64:
		return "float64"
	case []uint32:
		return "category"
	case []uint8:
		return "flag"
	}
	return "address"
}

// hasHoles reports whether some row has no value; a NaN is none.
func hasHoles(c *table.Column) bool {
	if c.Valid != nil && c.Valid.Count() < c.Len() {
		return true
	}
	d, _ := c.Data.([]float64)
	for _, v := range d {
		if v != v {
			return true
		}
	}
	return false
}

// column is SQL for the value as it is stored, which may be in a narrower type.
func (f *columnForm) column() string { return "c" + strconv.Itoa(f.number) }

// value is SQL for the value in the type of the column.
func (f *columnForm) value() string {
	if f.stored != "" {
		return "to" + f.sqlType() + "(" + f.column() + ")"
	}
	return f.column()
}

func (f *columnForm) bins() string { return "b" + strconv.Itoa(f.number) }

// present is SQL that says whether a row has a value.
func (f *columnForm) present() string {
	if f.Holes {
		return "p" + strconv.Itoa(f.number)
	}
	return "1"
}

// narrowest is the type that has room for all values; nothing if that is the type of the
// column. Fewer bytes are stored, and a question reads fewer.
func (f *columnForm) narrowest(d *described) string {
	var most float64
	switch f.Type {
	case "category":
		most = float64(len(d.Names) - 1)
	case "int32", "int64":
		lo, hi, any := d.Division.Finite()
		if any && lo < 0 {
			return ""
		}
		if any {
			most = hi
		}
	default:
		return ""
	}
	if t := unsigned(most); t != "UInt64" && (t != "UInt32" || f.Type == "int64") {
		return t
	}
	return ""
}

// unsigned is the type of numbers up to one.
func unsigned(most float64) string {
	switch {
	case most <= math.MaxUint8:
		return "UInt8"
	case most <= math.MaxUint16:
		return "UInt16"
	case most <= math.MaxUint32:
		return "UInt32"
	}
	return "UInt64"
}

// placeColumn says where a row was, by the number of the place among those of the run.
const placeColumn = "place"

// placeCode is SQL for it in the type of codes.
const placeCode = "toUInt32(" + placeColumn + ")"

// know fills in what the document says about its columns elsewhere.
func (d *document) know() {
	for i := range d.Columns {
		f := &d.Columns[i]
		f.number = i
		f.stored = d.Stored[f.column()]
		f.zeroed = d.Schema >= zeroSchema && f.Type != "float64"
	}
}

// sqlType is the type of the values in questions.
func (f *columnForm) sqlType() string {
	switch f.Type {
	case "int32":
		return "Int32"
	case "int64":
		return "Int64"
	case "float64":
		return "Float64"
	case "category":
		return "UInt32"
	case "flag":
		return "UInt8"
	}
	return "UInt64"
}

func emptyData(kind string) (any, error) {
	switch kind {
	case "int32":
		return []int32{}, nil
	case "int64":
		return []int64{}, nil
	case "float64":
		return []float64{}, nil
	case "category":
		return []uint32{}, nil
	case "flag":
		return []uint8{}, nil
	case "address":
		return []uint64{}, nil
	}
	return nil, fmt.Errorf("values of type %q", kind)
}

// columnOf is the column without its values.
func (f *columnForm) columnOf(dict []string, d *described) (*table.Column, error) {
	k, err := table.ParseKind(f.Kind)
	if err != nil {
		return nil, err
	}
	p, err := table.ParseProvenance(f.Provenance)
	if err != nil {
		return nil, err
	}
	c := &table.Column{Name: f.Name, Kind: k, Unit: f.Unit, Provenance: p, Label: f.Label, Note: f.Note, Base: f.Base, Dict: dict}
	if c.Data, err = emptyData(f.Type); err != nil {
		return nil, err
	}
	c.Summary = &table.Summary{Missing: d.Missing, Distinct: d.Distinct, Min: boundOf(c, d.Min), Max: boundOf(c, d.Max), IDLike: d.IDLike}
	return c, nil
}

// boundOf gives a bound the type that it has in a summary.
func boundOf(c *table.Column, text string) any {
	if text == "" {
		return nil
	}
	switch c.Data.(type) {
	case []int32:
		n, err := strconv.ParseInt(text, 10, 32)
		if err == nil {
			return int32(n)
		}
	case []int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			return n
		}
	case []uint8:
		n, err := strconv.ParseUint(text, 10, 8)
		if err == nil {
			return uint8(n)
		}
	case []float64:
		n, err := strconv.ParseFloat(text, 64)
		if err == nil {
			return n
		}
	case []uint64:
		return text
	}
	return nil
}

// describe looks at all values of a column.
func describe(c *table.Column, usual *query.Binner, division query.Summary) described {
	s := table.Summarize(c)
	d := described{Division: division, Missing: s.Missing, Distinct: s.Distinct, IDLike: s.IDLike, Names: usual.Names, Bins: usual.Binning.Bins}
	if s.Min != nil {
		d.Min, d.Max = fmt.Sprint(s.Min), fmt.Sprint(s.Max)
	}
	for _, e := range usual.Binning.Edges {
		d.Usual = append(d.Usual, math.Float64bits(e))
	}
	return d
}

// check refuses what does not fit together: it was written by somebody, on a
// server that others may write to.
func (d *document) check() error {
	if d.Schema < 1 || !word.MatchString(d.Attempt) || d.Rows < 0 || d.Shards < 1 || d.Cluster != "" && !word.MatchString(d.Cluster) {
		return fmt.Errorf("run %s: its entry in the list of runs is damaged", d.Run)
	}
	for column, t := range d.Stored {
		if t != "UInt8" && t != "UInt16" && t != "UInt32" || !rowColumn.MatchString(column) {
			return fmt.Errorf("run %s: column %s of its rows has the type %q", d.Run, column, t)
		}
	}
	d.know()
	for i := range d.Columns {
		if _, err := emptyData(d.Columns[i].Type); err != nil {
			return fmt.Errorf("run %s: column %s: %w", d.Run, d.Columns[i].Name, err)
		}
	}
	return nil
}

// newerError refuses a run that a newer program stored.
type newerError struct {
	run    string
	schema int
}

func (e *newerError) Error() string {
	return fmt.Sprintf("run %s was stored with schema %d, and this program knows %d; use a newer isobath", e.run, e.schema, schemaVersion)
}

func parseDocument(text string) (*document, error) {
	// The rest of a newer document may be of any form.
	var head struct {
		Schema int    `json:"schema"`
		Run    string `json:"run"`
	}
	if err := json.Unmarshal([]byte(text), &head); err == nil && head.Schema > schemaVersion {
		return nil, &newerError{head.Run, head.Schema}
	}
	var d document
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, fmt.Errorf("the list of runs: %w", err)
	}
	return &d, d.check()
}

func (d *document) rowTable() string   { return "isobath_" + d.Attempt + "_rows" }
func (d *document) pieceTable() string { return "isobath_" + d.Attempt + "_pieces" }
