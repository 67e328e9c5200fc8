package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Answer is what every tool answers with.
type Answer struct {
	// Command gives the same answer in a shell, in whole.
	Command string `json:"command"`
	// Selection is the part of the data that was looked at; empty is all of it.
	Selection  string     `json:"selection"`
	Provenance provenance `json:"provenance"`
	// Shortened says what of the answer was left out; empty if nothing was.
	Shortened string   `json:"shortened,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	Next      []string `json:"next,omitempty"` // tools that fit the data
	Answer    any      `json:"answer"`
}

// provenance says how far an answer can be trusted.
type provenance struct {
	Statement string `json:"statement"`
	Format    string `json:"format,omitempty"`
	// Columns are the names of columns by where their values come from.
	Columns map[string][]string `json:"columns,omitempty"`
}

// provenanceOf reads what `info` said about a file.
func provenanceOf(statement string, info any) provenance {
	out := provenance{Statement: statement}
	about, _ := info.(map[string]any)
	out.Format, _ = about["format"].(string)
	columns, _ := about["columns"].([]any)
	for _, c := range columns {
		column, _ := c.(map[string]any)
		name, _ := column["name"].(string)
		from, _ := column["provenance"].(string)
		if name != "" && from != "" {
			if out.Columns == nil {
				out.Columns = map[string][]string{}
			}
			out.Columns[from] = append(out.Columns[from], name)
		}
	}
	return out
}

// decode reads JSON and keeps numbers as they are written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// fit makes the answer at most so many bytes of JSON, by leaving out the ends of
// its lists: what comes first matters most in all of them.
func (a *Answer) fit(limit int) ([]byte, error) {
	whole := a.Answer
	for most := 256; ; most /= 2 {
		text, err := json.Marshal(a)
		if err != nil || len(text) <= limit {
			return text, err
		}
		if most == 0 {
			return nil, fmt.Errorf("the answer has %d bytes even without its lists, more than %d; run the command: %s", len(text), limit, a.Command)
		}
		var cuts []string
		a.Answer = shorten(whole, "", most, &cuts)
		if len(cuts) > 6 {
			cuts = append(cuts[:6], fmt.Sprintf("%d more lists", len(cuts)-6))
		}
		if len(cuts) > 0 {
			a.Shortened = strings.Join(cuts, "; ") + ": ask for less with where, top or range, or run the command"
		}
	}
}

// shorten copies a value with at most so many entries a list, and notes which
// lists had more.
func shorten(v any, name string, most int, cuts *[]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = shorten(value, strings.TrimPrefix(name+"."+key, "."), most, cuts)
		}
		return out
	case []any:
		if len(v) > most {
			*cuts = append(*cuts, fmt.Sprintf("%s has %d of %d entries", name, most, len(v)))
			v = v[:most]
		}
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = shorten(value, fmt.Sprintf("%s[%d]", name, i), most, cuts)
		}
		return out
	}
	return v
}
