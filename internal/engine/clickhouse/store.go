package clickhouse

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

const (
	// blockRows is how many rows in order go to one shard: enough that a server
	// reads them in one piece, and few enough that all shards get their share.
	blockRows = 1 << 16
	// batchRows is how many rows one insert has at most. Every insert becomes a
	// file that the server merges later, so they are large.
	batchRows = 1 << 19
)

// Contents is what is stored of a run.
type Contents struct {
	Run *run.Run
	// Table is the table of Run that questions are about, with names given after
	// the fact.
	Table  *table.Table
	Places *hw.Rows // nil if rows are not placed
}

// Import are the options of an import.
type Import struct {
	Force bool // replace a run of that name
	// BlockRows is how many rows in order go to one shard; 0 for the default.
	BlockRows int
	// Progress is told how many rows are stored; nil if nobody is.
	Progress func(done, total, rows int64)
}

// Store keeps a run under a name. It returns false if exactly this run is there
// already. An import of the same name that did not end is removed first, so no
// row is there twice.
func (s *Server) Store(ctx context.Context, name string, c *Contents, o Import) (stored bool, err error) {
	if !word.MatchString(name) {
		return false, fmt.Errorf("run %q: want letters, digits, '_', '-' and '.'; name it at the end of the address: %s/NAME", name, s.address.place())
	}
	if err := s.createRuns(ctx); err != nil {
		return false, err
	}
	d, err := s.newDocument(ctx, name, c)
	if err != nil {
		return false, err
	}
	before, err := s.entries(ctx, name)
	if err != nil {
		return false, err
	}
	for _, e := range before {
		if e.state != committed {
			continue
		}
		// One that cannot be read is of a newer program, or damaged: not ours to judge.
		if old, err := parseDocument(e.document); err == nil && old.Digest == d.Digest && s.checkRows(ctx, old) == nil {
			return false, nil
		} else if !o.Force {
			return false, fmt.Errorf("%s keeps another run named %q; choose another name, or give --force to replace it", s, name)
		}
	}
	for _, e := range before {
		if e.state != committed && e.state != removed {
			if err := s.drop(ctx, e); err != nil {
				return false, err
			}
		}
	}
	if err := s.fill(ctx, d, c, o); err != nil {
		return false, err
	}
	for _, e := range before {
		if e.state == committed {
			if err := s.drop(ctx, e); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}

// fill stores rows and pieces, counts them, and commits.
func (s *Server) fill(ctx context.Context, d *document, c *Contents, o Import) error {
	if err := s.put(ctx, entry{run: d.Run, attempt: d.Attempt, state: started}); err != nil {
		return err
	}
	w := &writer{server: s, document: d, contents: c, blockRows: o.BlockRows, progress: o.Progress}
	if w.blockRows == 0 {
		w.blockRows = blockRows
	}
	if err := w.measure(ctx); err != nil {
		return err
	}
	if err := w.create(ctx); err != nil {
		return err
	}
	if err := w.rows(ctx); err != nil {
		return err
	}
	if err := w.pieces(ctx); err != nil {
		return err
	}
	if err := s.checkRows(ctx, d); err != nil {
		return err
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return s.put(ctx, entry{run: d.Run, attempt: d.Attempt, state: committed, document: string(text)})
}

func (s *Server) newDocument(ctx context.Context, name string, c *Contents) (*document, error) {
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	d := &document{
		Schema: schemaVersion, Run: name, Attempt: hex.EncodeToString(id[:]), Cluster: s.address.Cluster, Shards: len(s.shards),
		Manifest: c.Run.Manifest, Table: c.Table.Name, Rows: c.Table.Rows(), Placed: c.Places != nil,
	}
	for i, col := range c.Table.Columns() {
		d.Columns = append(d.Columns, formOf(i, col))
	}
	if c.Places != nil {
		d.Places = c.Places.Coder.Places
	}
	if d.Manifest.Trace != "" {
		d.Manifest.Trace = ""
		d.Manifest.Warnings = append(slices.Clone(d.Manifest.Warnings), traceStays)
	}
	var err error
	d.Digest, err = digest(ctx, d, c)
	return d, err
}

// traceStays is what a run says that has a message trace beside its samples.
const traceStays = "the message trace of this execution is not here: an engine keeps samples, and the trace stayed in the run that they come from"

// digest is of everything that is kept, but for when and from which file it was
// imported.
func digest(ctx context.Context, d *document, c *Contents) (string, error) {
	h := sha256.New()
	m := d.Manifest
	said, err := json.Marshal([]any{d.Table, d.Rows, d.Columns, d.Places, m.Kind, m.Format, m.Origin, m.Warnings, m.Recording})
	if err != nil {
		return "", err
	}
	h.Write(said)
	err = c.eachPiece(ctx, func(name string, body []byte) error {
		h.Write(binary.AppendUvarint([]byte(name+"\x00"), uint64(len(body))))
		h.Write(body)
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, col := range c.Table.Columns() {
		for _, name := range col.Dict {
			h.Write(binary.AppendUvarint(nil, uint64(len(name))))
			io.WriteString(h, name)
		}
		if col.Valid != nil {
			h.Write(table.RawBytes(col.Valid))
		}
		for from := 0; from < d.Rows; from += batchRows {
			h.Write(col.Raw(from, min(from+batchRows, d.Rows)))
		}
		col.Release()
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// writer stores one run.
type writer struct {
	server    *Server
	document  *document
	contents  *Contents
	blockRows int
	progress  func(done, total, rows int64)

	divided   []*query.Binner // the usual axis of each column
	coded     []kernel.BinCodes
	described []described
	samples   [][]float64
}

// measure looks at every column, and divides it as an axis usually is.
func (w *writer) measure(ctx context.Context) error {
	if err := w.measureColumns(ctx); err != nil || w.document.Schema < zeroSchema {
		return err
	}
	w.document.Stored = map[string]string{}
	for i := range w.document.Columns {
		f := &w.document.Columns[i]
		if t := f.narrowest(&w.described[i]); t != "" {
			w.document.Stored[f.column()] = t
		}
	}
	var most uint32
	if w.contents.Places != nil {
		for _, code := range w.contents.Places.Code {
			most = max(most, code)
		}
	}
	if t := unsigned(float64(most)); t != "UInt32" {
		w.document.Stored[placeColumn] = t
	}
	w.document.know()
	return nil
}

func (w *writer) measureColumns(ctx context.Context) error {
	columns := w.contents.Table.Columns()
	w.divided, w.coded = make([]*query.Binner, len(columns)), make([]kernel.BinCodes, len(columns))
	w.described, w.samples = make([]described, len(columns)), make([][]float64, len(columns))
	return parallel.Each(ctx, len(columns), func(_ context.Context, _, i int) error {
		e := query.Measure(columns[i])
		b, err := e.Bin(query.Axis{Column: columns[i].Name})
		if err != nil {
			return err
		}
		summary, sample := e.Summary()
		w.divided[i], w.coded[i], w.samples[i] = b, kernel.BinsOf(columns[i], b), sample
		w.described[i] = describe(columns[i], b, summary)
		columns[i].Release()
		return nil
	})
}

func (w *writer) create(ctx context.Context) error {
	columns := []string{"r UInt64", placeColumn + " " + cmp.Or(w.document.Stored[placeColumn], "UInt32")}
	for i := range w.document.Columns {
		f := &w.document.Columns[i]
		columns = append(columns, f.column()+" "+cmp.Or(f.stored, f.sqlType()))
		if f.Holes {
			columns = append(columns, f.present()+" UInt8")
		}
		columns = append(columns, f.bins()+" "+w.binType(i))
	}
	rows := "CREATE TABLE " + w.document.rowTable() + " (" + strings.Join(columns, ", ") + ") ENGINE = MergeTree ORDER BY r"
	if err := w.server.everywhere(ctx, rows); err != nil {
		return err
	}
	return w.server.everywhere(ctx, "CREATE TABLE "+w.document.pieceTable()+" (name String, part UInt32, body String) ENGINE = MergeTree ORDER BY (name, part)")
}

func (w *writer) binType(i int) string {
	if w.divided[i].Binning.Cells() <= 256 {
		return "UInt8"
	}
	return "UInt16"
}

// rows stores the rows: block k goes to shard k modulo their number.
func (w *writer) rows(ctx context.Context) error {
	n, shards := w.document.Rows, len(w.server.shards)
	batch := max(w.blockRows, batchRows/w.blockRows*w.blockRows) * shards
	for from := 0; from < n; from += batch {
		to := min(from+batch, n)
		err := parallel.Each(ctx, shards, func(ctx context.Context, _, shard int) error {
			b := w.batch(from, to, shard)
			if b.rows == 0 {
				return nil
			}
			return w.server.shards[shard].insert(ctx, w.document.rowTable(), b)
		})
		if err != nil {
			return err
		}
		w.contents.Table.Release()
		if w.progress != nil {
			w.progress(int64(to), int64(n), int64(to))
		}
	}
	return nil
}

// batch collects the rows of a range that go to a shard.
func (w *writer) batch(from, to, shard int) *block {
	var parts [][2]int
	b := &block{}
	for lo := from; lo < to; lo += w.blockRows {
		if lo/w.blockRows%len(w.server.shards) == shard {
			hi := min(lo+w.blockRows, to)
			parts = append(parts, [2]int{lo, hi})
			b.rows += hi - lo
		}
	}
	numbers := make([]uint64, 0, b.rows)
	for _, p := range parts {
		for i := p[0]; i < p[1]; i++ {
			numbers = append(numbers, uint64(i))
		}
	}
	placed := w.document.Stored[placeColumn]
	places := any(raw{cmp.Or(placed, "UInt32"), [][]byte{make([]byte, b.rows*typeBytes(placed, 4))}})
	if w.contents.Places != nil {
		places = valuesIn(w.contents.Places.Code, "UInt32", placed, parts, b.rows, nil)
	}
	b.columns = []column{{"r", raw{"UInt64", [][]byte{table.RawBytes(numbers)}}}, {placeColumn, places}}
	for i, c := range w.contents.Table.Columns() {
		f := &w.document.Columns[i]
		var present []uint8
		if f.Holes {
			present = presentIn(c, parts, b.rows)
		}
		b.columns = append(b.columns, column{f.column(), f.valuesIn(c, parts, b.rows, present)})
		if f.Holes {
			b.columns = append(b.columns, column{f.present(), present})
		}
		b.columns = append(b.columns, column{f.bins(), w.codes(i, parts, b.rows)})
	}
	return b
}

// valuesIn is the values of rows as they are stored: 0 where they are absent, whatever
// the memory holds.
func (f *columnForm) valuesIn(c *table.Column, parts [][2]int, rows int, present []uint8) any {
	switch d := c.Data.(type) {
	case []int32:
		return valuesIn(d, f.sqlType(), f.stored, parts, rows, present)
	case []int64:
		return valuesIn(d, f.sqlType(), f.stored, parts, rows, present)
	case []uint32:
		return valuesIn(d, f.sqlType(), f.stored, parts, rows, present)
	case []uint8:
		return valuesIn(d, f.sqlType(), f.stored, parts, rows, present)
	case []uint64:
		return valuesIn(d, f.sqlType(), f.stored, parts, rows, present)
	}
	values := raw{kind: f.sqlType()}
	for _, p := range parts {
		values.parts = append(values.parts, c.Raw(p[0], p[1]))
	}
	return values
}

type wholeNumber interface {
	int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func valuesIn[T wholeNumber](data []T, kind, stored string, parts [][2]int, rows int, present []uint8) any {
	switch stored {
	case "UInt8":
		return raw{stored, [][]byte{table.RawBytes(copyOf[uint8](data, parts, rows, present))}}
	case "UInt16":
		return raw{stored, [][]byte{table.RawBytes(copyOf[uint16](data, parts, rows, present))}}
	case "UInt32":
		return raw{stored, [][]byte{table.RawBytes(copyOf[uint32](data, parts, rows, present))}}
	}
	if !zeroWhereAbsent(data, parts, present) {
		return raw{kind, [][]byte{table.RawBytes(copyOf[T](data, parts, rows, present))}}
	}
	values := raw{kind: kind}
	for _, p := range parts {
		values.parts = append(values.parts, table.RawBytes(data[p[0]:p[1]]))
	}
	return values
}

// copyOf is the values of rows in another type.
func copyOf[S, T wholeNumber](data []T, parts [][2]int, rows int, present []uint8) []S {
	out := make([]S, 0, rows)
	for _, p := range parts {
		for _, v := range data[p[0]:p[1]] {
			out = append(out, S(v))
		}
	}
	for i, has := range present {
		out[i] *= S(has)
	}
	return out
}

func zeroWhereAbsent[T wholeNumber](data []T, parts [][2]int, present []uint8) bool {
	at := 0
	for _, p := range parts {
		if present == nil {
			break
		}
		for i, v := range data[p[0]:p[1]] {
			if v != 0 && present[at+i] == 0 {
				return false
			}
		}
		at += p[1] - p[0]
	}
	return true
}

// typeBytes is how many bytes a number has.
func typeBytes(kind string, usual int) int {
	switch kind {
	case "UInt8":
		return 1
	case "UInt16":
		return 2
	}
	return usual
}

func presentIn(c *table.Column, parts [][2]int, rows int) []uint8 {
	floats, _ := c.Data.([]float64)
	out := make([]uint8, 0, rows)
	for _, p := range parts {
		for i := p[0]; i < p[1]; i++ {
			has := uint8(1)
			if c.Valid != nil && !c.Valid.Get(i) || floats != nil && floats[i] != floats[i] {
				has = 0
			}
			out = append(out, has)
		}
	}
	return out
}

// codes are the bins of rows on the usual axis of a column.
func (w *writer) codes(i int, parts [][2]int, rows int) any {
	if w.binType(i) == "UInt8" {
		return codesAs[uint8](w.coded[i], parts, rows)
	}
	return codesAs[uint16](w.coded[i], parts, rows)
}

func codesAs[T uint8 | uint16](bins kernel.BinCodes, parts [][2]int, rows int) []T {
	out := make([]T, rows)
	at := 0
	for _, p := range parts {
		n := p[1] - p[0]
		kernel.FillBins(bins, p[0], out[at:at+n])
		at += n
	}
	return out
}

// pieces stores what is not rows, on the first shard.
func (w *writer) pieces(ctx context.Context) error {
	p := &pieceWriter{server: w.server, table: w.document.pieceTable()}
	for i, c := range w.contents.Table.Columns() {
		p.addJSON(ctx, fmt.Sprintf("described/%d", i), w.described[i])
		if c.Kind == table.Category {
			p.addJSON(ctx, fmt.Sprintf("names/%d", i), c.Dict)
		}
		if w.samples[i] != nil {
			p.add(ctx, fmt.Sprintf("sample/%d", i), packFloats(w.samples[i]))
		}
	}
	err := w.contents.eachPiece(ctx, func(name string, body []byte) error {
		p.add(ctx, name, body)
		if other, ok := strings.CutPrefix(name, tablePiece); ok {
			w.document.Others = append(w.document.Others, other)
		}
		return p.err
	})
	if err != nil {
		return err
	}
	return p.flush(ctx)
}

// tablePiece begins the names of the pieces that are tables.
const tablePiece = "table/"

// eachPiece visits what is kept of a run beside its samples, always in the same order.
func (c *Contents) eachPiece(ctx context.Context, visit func(name string, body []byte) error) error {
	r := c.Run
	for _, p := range []struct {
		name string
		body []byte
	}{{"topology", r.TopologyData}, {"tree", r.Tree}, {"objects", []byte(r.Names)}} {
		if len(p.body) > 0 {
			if err := visit(p.name, p.body); err != nil {
				return err
			}
		}
	}
	for i, s := range r.Sources {
		body, err := r.Source(s.Name)
		if err != nil {
			continue // a source that is gone is none
		}
		if err := visit(fmt.Sprintf("source/%d", i), body); err != nil {
			return err
		}
	}
	named, err := r.Selections()
	if err != nil {
		return err
	}
	body, err := json.Marshal(named)
	if err != nil {
		return err
	}
	if err := visit("selections", body); err != nil {
		return err
	}
	for _, t := range r.Contents {
		if t.Name == c.Table.Name {
			continue
		}
		body, err := arrowBytes(ctx, t)
		if err != nil {
			return err
		}
		if err := visit(tablePiece+t.Name, body); err != nil {
			return err
		}
	}
	return nil
}

// packFloats writes numbers as bytes.
func packFloats(values []float64) []byte {
	out := make([]byte, 0, 8*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

// arrowBytes writes a table as the file it has in a run.
func arrowBytes(ctx context.Context, t *table.Table) ([]byte, error) {
	dir, err := scratch.Folder("", "engine")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "table")
	if err := wholefile.Fill(ctx, file, t.WriteArrowFile); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// pieceWriter stores named texts, compressed and in parts.
type pieceWriter struct {
	server *Server
	table  string

	names, bodies []string
	parts         []uint32
	bytes         int
	err           error
}

const (
	partBytes  = 8 << 20 // of a piece in one row
	flushBytes = 32 << 20
)

func (p *pieceWriter) addJSON(ctx context.Context, name string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		p.err = err
		return
	}
	p.add(ctx, name, body)
}

func (p *pieceWriter) add(ctx context.Context, name string, body []byte) {
	if p.err != nil {
		return
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		p.err = err
		return
	}
	packed := z.EncodeAll(body, nil)
	for part := uint32(0); part == 0 || len(packed) > 0; part++ {
		n := min(len(packed), partBytes)
		p.names, p.parts, p.bodies = append(p.names, name), append(p.parts, part), append(p.bodies, string(packed[:n]))
		packed, p.bytes = packed[n:], p.bytes+n
		if p.bytes >= flushBytes {
			if p.err = p.flush(ctx); p.err != nil {
				return
			}
		}
	}
}

func (p *pieceWriter) flush(ctx context.Context) error {
	if p.err != nil || len(p.names) == 0 {
		return p.err
	}
	b := &block{rows: len(p.names), columns: []column{{"name", p.names}, {"part", p.parts}, {"body", p.bodies}}}
	p.names, p.parts, p.bodies, p.bytes = nil, nil, nil, 0
	return p.server.shards[0].insert(ctx, p.table, b)
}
