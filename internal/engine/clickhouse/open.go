package clickhouse

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Stored is an opened run that is kept in ClickHouse: everything but its rows is
// here.
type Stored struct {
	// Run is the run without its rows: sources, topology, other tables.
	Run      *run.Run
	Table    *table.Table // described, its rows are elsewhere
	Topology *hw.Topology // nil if there is none
	Places   *hw.Rows     // without codes; nil if rows are not placed
	Engine   *Engine
	Digest   string // of everything that is kept of it

	server *Server
	folder string // of sources and other tables
}

// Close releases the connections and the files behind Run, whose tables it leaves
// to the run.
func (s *Stored) Close() error {
	s.server.Close()
	return os.RemoveAll(s.folder)
}

// Open opens the run that an address names.
func Open(ctx context.Context, a *Address) (*Stored, error) {
	if a.Run == "" {
		return nil, fmt.Errorf("%s names no run; 'isobath engine ls %s' lists them", a, a)
	}
	server, err := Dial(ctx, a)
	if err != nil {
		return nil, err
	}
	s, err := server.open(ctx, a.Run)
	if err != nil {
		server.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) open(ctx context.Context, name string) (*Stored, error) {
	d, err := s.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, fmt.Errorf("no run %q is kept at %s; 'isobath engine ls' lists those that are, and ?cluster=NAME finds those of a cluster", name, s)
	}
	pieces, err := s.pieces(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", name, err)
	}
	out := &Stored{server: s, Digest: d.Digest, Run: &run.Run{Manifest: d.Manifest, SourceFiles: map[string]source.File{}}}
	if out.folder, err = scratch.Folder("", "engine"); err != nil {
		return nil, err
	}
	if err := out.fill(ctx, d, pieces); err != nil {
		return nil, errors.Join(fmt.Errorf("run %s: %w", name, err), out.Run.Close(), os.RemoveAll(out.folder))
	}
	return out, nil
}

func (out *Stored) fill(ctx context.Context, d *document, pieces pieces) error {
	out.Run.TopologyData, out.Run.Tree, out.Run.Names = pieces["topology"], pieces["tree"], string(pieces["objects"])
	if err := out.readSources(ctx, pieces); err != nil {
		return err
	}
	if body, ok := pieces["selections"]; ok {
		var named map[string]string
		if err := json.Unmarshal(body, &named); err != nil {
			return err
		}
		out.Run.NameSelections(named)
	}
	if err := out.readOthers(ctx, d, pieces); err != nil {
		return err
	}
	e := &Engine{server: out.server, document: d, samples: pieces, pieceRows: pieceRows}
	columns := make([]*table.Column, len(d.Columns))
	for i := range d.Columns {
		var err error
		if columns[i], err = e.readColumn(i, pieces); err != nil {
			return fmt.Errorf("column %s: %w", d.Columns[i].Name, err)
		}
	}
	var err error
	if out.Table, err = table.NewElsewhere(d.Table, d.Rows, columns); err != nil {
		return err
	}
	out.Engine = e
	e.data = query.Data{Table: out.Table, RowSets: &query.RowSets{}}
	return out.place(d)
}

// readColumn reads what is known of a column.
func (e *Engine) readColumn(i int, pieces pieces) (*table.Column, error) {
	f := &e.document.Columns[i]
	var known described
	if err := json.Unmarshal(pieces[fmt.Sprintf("described/%d", i)], &known); err != nil {
		return nil, err
	}
	var dict []string
	if f.Type == "category" {
		if err := json.Unmarshal(pieces[fmt.Sprintf("names/%d", i)], &dict); err != nil {
			return nil, err
		}
		if len(known.Division.Counts) != len(dict) || len(known.Names) != len(dict) ||
			slices.ContainsFunc(known.Division.Seen, func(code uint32) bool { return int(code) >= len(dict) }) {
			return nil, errors.New("its names do not fit their counts")
		}
	}
	e.described = append(e.described, known)
	return f.columnOf(dict, &known)
}

// keep writes a file of the run's folder.
func keep(ctx context.Context, file string, body []byte) error {
	return wholefile.Fill(ctx, file, func(f *os.File) error {
		_, err := f.Write(body)
		return err
	})
}

func (out *Stored) readSources(ctx context.Context, pieces pieces) error {
	var kept []run.SourceEntry
	for i, s := range out.Run.Sources {
		body, ok := pieces[fmt.Sprintf("source/%d", i)]
		if !ok {
			continue
		}
		name := "source-" + strconv.Itoa(i)
		if err := keep(ctx, filepath.Join(out.folder, name), body); err != nil {
			return err
		}
		out.Run.SourceFiles[s.Name] = source.File{Root: out.folder, Name: name}
		kept = append(kept, s)
	}
	out.Run.Sources = kept
	return nil
}

func (out *Stored) readOthers(ctx context.Context, d *document, pieces pieces) error {
	for i, name := range d.Others {
		file := filepath.Join(out.folder, "table-"+strconv.Itoa(i))
		if err := keep(ctx, file, pieces["table/"+name]); err != nil {
			return err
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		t, err := table.OpenArrowFile(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		out.Run.Contents = append(out.Run.Contents, t)
	}
	return nil
}

func (out *Stored) place(d *document) error {
	if out.Run.Tree == nil {
		return nil
	}
	out.Topology = new(hw.Topology)
	if err := json.Unmarshal(out.Run.Tree, out.Topology); err != nil {
		return fmt.Errorf("topology: %w", err)
	}
	if !d.Placed {
		return nil
	}
	placer := hw.NewPlacer(out.Topology)
	coder := hw.NewCoder(placer)
	for i, place := range d.Places {
		if int(place) >= placer.Places() || coder.Code(place) != uint32(i) {
			return errors.New("its places do not fit the topology")
		}
	}
	out.Places = &hw.Rows{Coder: coder}
	out.Engine.data.Placing = &query.Placing{Count: len(coder.Places), Touching: coder.Touching}
	return nil
}

// Data is what the engine answers questions about.
func (s *Stored) Data() query.Data { return s.Engine.data }

// pieces are the named texts of a run.
type pieces map[string][]byte

// mostUnpacked bounds a piece: the largest are dictionaries and samples.
const mostUnpacked = 2 << 30

func (s *Server) pieces(ctx context.Context, d *document) (pieces, error) {
	b, err := s.entry.query(ctx, "SELECT name, body FROM "+s.from(d.Cluster, d.pieceTable())+" ORDER BY name, part")
	if err != nil {
		return nil, err
	}
	if len(b.columns) != 2 {
		return nil, errors.New("its pieces are not there")
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostUnpacked))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	names, bodies := texts[string](b, 0), texts[string](b, 1)
	out := pieces{}
	for i := 0; i < len(names); {
		var packed strings.Builder
		name := names[i]
		for ; i < len(names) && names[i] == name; i++ {
			packed.WriteString(bodies[i])
		}
		if out[name], err = z.DecodeAll([]byte(packed.String()), nil); err != nil {
			return nil, fmt.Errorf("piece %s: %w", name, err)
		}
	}
	return out, nil
}

// Engine answers questions about a run by asking ClickHouse. It may be used by
// several goroutines at once.
type Engine struct {
	server    *Server
	document  *document
	data      query.Data
	described []described
	samples   pieces

	divided sync.Map             // query.Axis → *query.Binner
	dragged atomic.Pointer[cube] // the last one that came
	wholes  wholes

	pieceRows int // of InOrder
}

var _ query.Engine = (*Engine)(nil)

// Select implements query.Engine. Whoever wants row numbers looks at rows, and
// those are not here.
func (e *Engine) Select(context.Context, query.Expr) (table.Bits, error) { return nil, ErrElsewhere }

// Close does nothing: the run holds the connections.
func (e *Engine) Close() {}

// ErrElsewhere is for what reads the rows themselves.
var ErrElsewhere = query.Refuse("this looks at single rows, which are kept in ClickHouse; bring them here with 'isobath export ADDRESS --where … -o part.csv' and open that")

// sampleOf is the sample of a column that its divisions are made from.
func (e *Engine) sampleOf(i int) []float64 {
	body := e.samples[fmt.Sprintf("sample/%d", i)]
	out := make([]float64, len(body)/8)
	for k := range out {
		out[k] = math.Float64frombits(binary.LittleEndian.Uint64(body[8*k:]))
	}
	return out
}
