package table

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A CSV has no place for units, origins and labels. They are described in the
// form of "Metadata Vocabulary for Tabular Data" (W3C, CSV on the Web), which
// other tools find by the name that SidecarOf gives it; what that vocabulary
// has no word for has a name of ours.
const (
	csvContext = "http://www.w3.org/ns/csvw"
	// sidecarSuffix is the default location of section 5.3 of that standard.
	sidecarSuffix = "-metadata.json"
	// describedBy begins a comment line that holds the description, for a CSV
	// that nothing can lie beside.
	describedBy = "# isobath "
)

// SidecarOf is the file beside a CSV that describes its columns.
func SidecarOf(path string) string { return path + sidecarSuffix }

// csvDescription is the JSON form.
type csvDescription struct {
	Context any       `json:"@context"`
	URL     string    `json:"url,omitempty"`
	Schema  csvSchema `json:"tableSchema"`
}

type csvSchema struct {
	Columns []csvColumn `json:"columns"`
}

type csvColumn struct {
	Titles     string `json:"titles"`
	Datatype   string `json:"datatype"`
	Kind       string `json:"isobath:kind"`
	Unit       string `json:"isobath:unit,omitempty"`
	Provenance string `json:"isobath:provenance"`
	Label      string `json:"isobath:label,omitempty"`
	Note       string `json:"isobath:note,omitempty"`
	Base       string `json:"isobath:base,omitempty"`
}

// Described is what is known about a column apart from its values.
type Described struct {
	Kind        Kind
	Fractional  bool // a Number of []float64
	Unit        string
	Provenance  Provenance
	Label, Note string
	Base        uint64
}

// DescribeCSV returns what a CSV of the table cannot say, in one line of JSON.
// The file is the CSV's name, for tools that start from the description.
func (t *Table) DescribeCSV(file string) ([]byte, error) {
	d := csvDescription{
		Context: []any{csvContext, map[string]string{"isobath": "https://github.com/isobath/isobath/blob/main/docs/formats.md#"}},
		URL:     file,
		Schema:  csvSchema{Columns: make([]csvColumn, len(t.columns))},
	}
	for i, c := range t.columns {
		d.Schema.Columns[i] = csvColumn{Titles: c.Name, Datatype: c.csvType(), Kind: c.Kind.String(), Unit: c.Unit,
			Provenance: c.Provenance.String(), Label: c.Label, Note: c.Note}
		if c.Base != 0 {
			d.Schema.Columns[i].Base = strconv.FormatUint(c.Base, 10)
		}
	}
	return json.Marshal(d)
}

func (c *Column) csvType() string {
	switch c.Data.(type) {
	case []int32, []int64:
		return "integer"
	case []float64:
		return "double"
	case []uint8:
		return "boolean"
	}
	return "string"
}

// ParseCSVDescription reads what DescribeCSV wrote: columns by name. It reads
// descriptions of other tools too, as far as they use those words.
func ParseCSVDescription(text []byte) (map[string]Described, error) {
	var d csvDescription
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("description of columns: %w", err)
	}
	out := make(map[string]Described, len(d.Schema.Columns))
	for _, c := range d.Schema.Columns {
		one, err := c.read()
		if err != nil {
			return nil, fmt.Errorf("description of column %q: %w", c.Titles, err)
		}
		out[c.Titles] = one
	}
	return out, nil
}

func (c *csvColumn) read() (Described, error) {
	out := Described{Fractional: c.Datatype == "double", Unit: c.Unit, Label: c.Label, Note: c.Note, Provenance: Unknown}
	var err error
	if out.Kind, err = ParseKind(c.Kind); err != nil {
		return out, err
	}
	if c.Provenance != "" {
		if out.Provenance, err = ParseProvenance(c.Provenance); err != nil {
			return out, err
		}
	}
	if c.Base != "" {
		if out.Base, err = strconv.ParseUint(c.Base, 10, 64); err != nil {
			return out, fmt.Errorf("base %q: want a whole number", c.Base)
		}
	}
	return out, nil
}

// CommentOfCSV is the description as the first line of a CSV.
func CommentOfCSV(description []byte) []byte {
	return slices.Concat([]byte(describedBy), description, []byte("\n"))
}

// DescriptionInComment returns the description that a comment line carries;
// false for other comments.
func DescriptionInComment(line string) ([]byte, bool) {
	text, ok := strings.CutPrefix(line, describedBy)
	return []byte(strings.TrimSpace(text)), ok && strings.HasPrefix(text, "{")
}
