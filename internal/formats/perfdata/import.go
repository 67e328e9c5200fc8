package perfdata

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// importer collects the records of a file.
type importer struct {
	*file
	opt     *foreign.Options
	rows    *rows
	fetches *rows // samples of instruction fetches, which are no accesses to data
	notes   []fileNote
	sample  decodedSample
	sources sources
	stacks  stacks
	callers *callers // nil until a sample has a copy of the stack
	files   *symbol.Files
	ctx     context.Context // of the import, for what a record starts
	beside  folder

	before  int64          // bytes of the files read before this one
	unknown map[uint32]int // records of types nobody knows
	skipped [3]int         // samples by fault
	lossy   bool           // something was lost

	trace               trace
	midrText            string // the CPUID that midrValue was read from
	midrValue           uint64
	cpu                 datasrc.Zen
	cpuText             string // the CPUID that cpu was read from
	ibsCodes            map[ibsKey]uint32
	microOps, memoryOps int               // samples of IBS, and those that access memory
	counters            map[uint64]uint64 // what each counter of a group was last read as
	guests              int               // samples of virtual machines
	members             int               // samples of events whose group leader interrupted
}

func newImporter(ctx context.Context, f *file, opt *foreign.Options, beside folder) *importer {
	return &importer{file: f, opt: opt, ctx: ctx, beside: beside, rows: newRows(), fetches: newRows(), sources: newSources(), stacks: newStacks(), unknown: map[uint32]int{},
		trace: trace{buffers: map[uint32]*buffer{}}, ibsCodes: map[ibsKey]uint32{}, counters: map[uint64]uint64{}}
}

// folder is what stands beside a file that perf keeps in a folder of its own.
type folder struct {
	path    string   // empty: the file is alone
	records []string // files that hold nothing but records
}

// parse reads a whole file, and what is beside it.
func parse(ctx context.Context, r io.ReaderAt, size int64, opt *foreign.Options, beside folder) (*foreign.Imported, error) {
	f, err := open(r, size, opt.Salvage)
	if err != nil {
		return nil, err
	}
	im := newImporter(ctx, f, opt, beside)
	if err := f.scan(ctx, f.r, f.data, im); err != nil {
		return nil, err
	}
	for _, path := range beside.records {
		if err := im.scanFile(ctx, path); err != nil {
			return nil, err
		}
	}
	f.nameEvents()
	if len(f.events) == 0 {
		return nil, fmt.Errorf("no event is described in the file; it ends at byte %d: %w", size, errDamaged)
	}
	im.judge()
	if im.rows.n+im.fetches.n == 0 {
		return nil, im.empty()
	}
	out := &foreign.Imported{Origin: f.origin()}
	if out.Topology, err = f.features.topology(); err != nil {
		f.warnf("the hardware described in the file is not usable: %v", err)
	}
	if out.Topology != nil {
		out.TopologyName = "perf.data"
	}
	if err := im.nameKernel(); err != nil {
		return nil, err
	}
	out.Tables, err = im.tables(ctx)
	out.Warnings = f.warnings
	return out, err
}

func (f *file) origin() kind.Origin {
	t := &f.features
	o := kind.Origin{Host: t.Hostname, Command: t.Cmdline, Tool: "perf"}
	if t.Version != "" {
		o.Tool = "perf " + t.Version
	}
	return o
}

// scanFile reads the records of a file that holds nothing else.
func (im *importer) scanFile(ctx context.Context, path string) error {
	f, err := plainfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	im.before += im.size
	im.size = info.Size()
	if err := im.scan(ctx, f, section{0, uint64(im.size)}, im); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}

func (im *importer) progress(done int64) {
	if im.opt.Progress != nil {
		im.opt.Progress(im.before+done, im.before+im.size, int64(im.rows.n))
	}
}

// record takes one record; see visitor.
func (im *importer) record(r record, rest *payload) error {
	switch r.typ {
	case perfevent.RecordSample:
		return im.addSample(r)
	case perfevent.RecordMmap, perfevent.RecordMmap2, perfevent.RecordComm, perfevent.RecordFork, perfevent.RecordExit, perfevent.RecordLost, perfevent.RecordLostSamples, perfevent.RecordThrottle, perfevent.RecordUnthrottle,
		perfevent.RecordAux, perfevent.RecordItraceStart, perfevent.RecordSwitch, perfevent.RecordSwitchCPUWide:
		n, ok := im.note(r)
		if n.Kind == Switch && !im.trace.seen {
			return nil // only hardware traces need them, and there may be millions
		}
		if ok {
			im.notes = append(im.notes, n)
			im.lossy = im.lossy || n.Kind == Lost || n.Kind == AuxLost || n.Kind == Throttle || n.Kind == Unthrottle
		}
	case recFinishedRound:
		im.rows.round()
		im.fetches.round()
	case recAttr:
		return im.attrRecord(r)
	case recFeature:
		im.featureRecord(r)
	case recEventUpdate:
		im.eventUpdate(r)
	case recTimeConv:
		im.timeConv(r)
	case recAuxtraceInfo:
		im.auxtraceInfo(r)
	case recAuxtrace:
		return im.auxtrace(r, rest)
	case recBuildID:
		im.features.addBuildID(im.Order, r.b)
	default:
		if !ignored(r.typ) {
			im.unknown[r.typ]++
		}
	}
	return nil
}

// ignored reports whether a record is known and of no use here.
func ignored(typ uint32) bool {
	return typ == perfevent.RecordRead || typ >= 16 && typ <= 21 || typ >= firstOwnRecord && typ <= 84
}

func (im *importer) addSample(r record) error {
	s := &im.sample
	if f := im.file.sample(r, s); f != faultNone {
		im.skipped[f]++
		return nil
	}
	switch {
	case s.Mode == perfevent.MiscGuestKernel || s.Mode == perfevent.MiscGuestUser:
		// Its addresses are those of a virtual machine, of which the file
		// knows no mappings. perf leaves such samples out as well.
		im.guests++
		return nil
	case s.Type&perfevent.SampleRead != 0:
		return im.readings(s)
	}
	return im.keep(s)
}

// readings adds the samples that a read of counters stands for. As perf does,
// each counter of the group that moved since it was last read gives a sample of
// its event, whose period is how far it moved: only the leader of a group that
// is recorded with :S interrupts.
func (im *importer) readings(s *decodedSample) error {
	attr := &im.events[s.Event].Attr
	if attr.ReadFormat&perfevent.ReadID == 0 {
		return im.keep(s) // nothing says whose counters they are
	}
	one := *s
	var failed error
	attr.Readings(&s.Sample, func(id, value uint64) {
		event, ok := im.byID[id]
		if !ok {
			im.skipped[faultEvent]++
			return
		}
		moved := value - im.counters[id]
		im.counters[id] = value
		if moved == 0 || failed != nil {
			return
		}
		if event != one.Event {
			im.members++
		}
		*s = one
		s.Event, s.Period = event, moved
		s.Type |= perfevent.SamplePeriod
		im.extend(s)
		failed = im.keep(s)
	})
	return failed
}

// keep adds a sample to the rows.
func (im *importer) keep(s *decodedSample) error {
	if max(im.rows.n, im.fetches.n) == maxRows {
		return fmt.Errorf("more than %d samples: record less, or filter with perf script", maxRows)
	}
	if s.Event >= maxEventRows {
		return fmt.Errorf("samples of more than %d events in one file: record fewer events", maxEventRows)
	}
	stack := uint32(0)
	if s.Type&(perfevent.SampleCallchain|perfevent.SampleStackUser) != 0 { // most samples have neither
		var err error
		if stack, err = im.chain(s); err != nil {
			return err
		}
	}
	switch im.kindOf(im.events[s.Event]) {
	case kindIBSOp:
		im.addIBSOp(s, stack)
	case kindIBSFetch:
		im.addIBSFetch(s, stack)
	default:
		im.rows.add(s, im.sources.perf(s), stack)
	}
	return nil
}

// attrRecord takes an event of a file written through a pipe.
func (im *importer) attrRecord(r record) error {
	if !im.pipe {
		return nil // the header has them
	}
	b := r.b[perfevent.HeaderSize:]
	if len(b) < perfevent.AttrSize0 || len(im.events) >= maxEvents {
		return fmt.Errorf("event %d at byte %d cannot be read: %w", len(im.events), r.at, errDamaged)
	}
	size := int(im.U32(b[4:]))
	if size < perfevent.AttrSize0 || size > len(b) {
		size = min(len(b), perfevent.AttrSize0)
	}
	attr, err := perfevent.ParseAttr(im.Order, b[:size])
	if err != nil {
		return fmt.Errorf("event %d at byte %d: %w: %w", len(im.events), r.at, err, errDamaged)
	}
	im.addEvent(attr, b[size:])
	return im.agree()
}

func (im *importer) featureRecord(r record) {
	if len(r.b) < perfevent.HeaderSize+8 {
		return
	}
	id := im.U64(r.b[perfevent.HeaderSize:])
	if id >= featMax {
		return
	}
	if err := im.feature(int(id), r.b[perfevent.HeaderSize+8:]); err != nil {
		im.warnf("feature %d cannot be read and is left out: %v", id, err)
	}
}

// eventUpdate takes what a pipe says about an event after its attr.
func (im *importer) eventUpdate(r record) {
	c := perfevent.Cursor{Order: im.Order, B: r.b[perfevent.HeaderSize:]}
	kind, id := c.U64(), c.U64()
	if e, ok := im.byID[id]; ok && kind == eventUpdateName && !c.Short {
		im.events[e].Name = perfevent.Text(c.B)
	}
}

// empty is the error for a file without samples.
func (im *importer) empty() error {
	switch {
	case im.skipped[faultSize]+im.skipped[faultEvent] > 0:
		return fmt.Errorf("nothing of its %s can be read: %w", term.Counted(im.skipped[faultSize]+im.skipped[faultEvent], "sample"), errDamaged)
	case im.foreignTrace():
		return fmt.Errorf("it holds no samples but a hardware trace of %s, which is not decoded; 'perf script --itrace=i100us' makes samples of it as text", im.trace.maker())
	case im.guests > 0:
		return fmt.Errorf("it holds only samples of virtual machines, %d: record there", im.guests)
	case len(im.unknown) > 0:
		return errors.New("it holds no samples this program can read; " + im.unknownText())
	}
	return errors.New("it holds no samples; did the recorded program run long enough?")
}

func (im *importer) unknownText() string {
	types := make([]uint32, 0, len(im.unknown))
	for t := range im.unknown {
		types = append(types, t)
	}
	slices.Sort(types)
	var words []string
	for _, t := range types[:min(len(types), 6)] {
		words = append(words, fmt.Sprintf("%d of type %d", im.unknown[t], t))
	}
	return "records of unknown types were skipped: " + strings.Join(words, ", ")
}

// sources numbers the distinct pairs of a data_src and what it means: mostly
// the one follows from the other, but registers may say what data_src does not.
type sources struct {
	codes    map[uint64]uint32
	other    map[served]uint32
	words    []uint64
	accesses []datasrc.Access
	recent   [1 << recentSourceBits]recentSource
}

type served struct {
	word   uint64
	access datasrc.Access
}

// noAccess is what a sample without data_src says: nothing.
const noAccess = 0

func newSources() sources {
	return sources{codes: map[uint64]uint32{}, other: map[served]uint32{{}: noAccess}, accesses: []datasrc.Access{{}}, words: []uint64{0}}
}

// perf numbers the access of a sample by its data_src.
func (s *sources) perf(sample *decodedSample) uint32 {
	w := sample.DataSrc
	if sample.Type&perfevent.SampleDataSrc == 0 || w == 0 {
		return noAccess
	}
	near := &s.recent[w*0x9e3779b97f4a7c15>>(64-recentSourceBits)]
	if near.word != w {
		code, ok := s.codes[w]
		if !ok {
			code = s.number(w, datasrc.Perf(w))
			s.codes[w] = code
		}
		*near = recentSource{w, code}
	}
	return near.code
}

// recentSource remembers the number of a data_src; word 0 is none.
type recentSource struct {
	word uint64
	code uint32
}

const recentSourceBits = 8 // few different ones occur in a recording

// number numbers an access that was decoded some other way.
func (s *sources) number(word uint64, a datasrc.Access) uint32 {
	key := served{word, a}
	code, ok := s.other[key]
	if !ok {
		code = uint32(len(s.accesses))
		s.accesses = append(s.accesses, a)
		s.words = append(s.words, word)
		s.other[key] = code
	}
	return code
}

// stacks numbers the distinct call chains. Number 0 is none.
type stacks struct {
	in *table.Interner
}

func newStacks() stacks {
	s := stacks{in: table.NewInterner()}
	s.in.CodeString("")
	return s
}

func (s *stacks) number(chain []byte) uint32 {
	if len(chain) == 0 {
		return 0
	}
	return s.in.Code(chain)
}
