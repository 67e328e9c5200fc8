package perfdata

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"math/bits"
	"os"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// attribution is what the notes say about the samples: the command of each
// thread, the code at each ip, and what was lost before. All of it is in order
// of time.
type attribution struct {
	b     *builder
	space *symbol.Space
	files *symbol.Files

	commands map[int32]uint32 // by thread
	names    *table.Interner
	command  table.Growing[uint32]
	unnamed  []uint32 // rows of threads without a command
	lossy    losses

	// Distinct instructions, and which one each row has.
	sites   map[siteKey]uint32
	pid     table.Growing[int32]
	at, pc  table.Growing[uint64]
	stack   table.Growing[uint32]
	siteOf  table.Growing[uint32]
	hasCode bool

	// What was found last, by instruction, while no mapping has changed.
	recent []recentSite // a power of two of them
	shift  int          // of a hash, to get its place in recent
	epoch  uint32

	tid     int32 // of the last sample, whose command is name
	name    uint32
	said    bool
	changed bool // since the last sample a command may have changed
}

// Most samples are of few instructions.
const recentBits = 14

type recentSite struct {
	ip                 uint64
	pid                int32
	stack, epoch, site uint32
}

// siteKey is an instruction in its mapping, with the calls that led there.
type siteKey struct {
	m     *symbol.Mapping
	ip    uint64
	pid   int32
	stack uint32
}

// maxSites bounds the memory of the distinct instructions. Beyond it they are
// counted afresh: the same instruction is then looked up more than once.
const maxSites = 1 << 19

// attribute walks over samples and notes in order of time.
func (b *builder) attribute(ctx context.Context) (*attribution, error) {
	at := &attribution{
		b: b, space: mappings(b.im.notes, &b.im.features, b.r.time.used), files: b.im.binaryFiles(), commands: map[int32]uint32{}, names: table.NewInterner(),
		lossy: newLosses(), sites: map[siteKey]uint32{}, hasCode: b.r.ip.used,
	}
	size := min(bits.Len(uint(b.n)), recentBits)
	at.recent, at.shift = make([]recentSite, 1<<size), 64-size
	notes := b.im.notes
	for i := range b.n {
		if i%releaseRows == 0 {
			b.release()
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		now := b.at(i)
		for len(notes) > 0 && (notes[0].Time <= now || !b.r.time.used) {
			at.take(&notes[0])
			notes = notes[1:]
		}
		at.sample(i, now)
	}
	for i := range notes {
		at.lossy.take(&notes[i])
	}
	at.lossy.finish(b)
	return at, b.err
}

// binaryFiles returns the files of the recording, which are looked for once.
func (im *importer) binaryFiles() *symbol.Files {
	if im.files == nil {
		host, _ := os.Hostname()
		release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
		im.files = &symbol.Files{Elsewhere: im.features.Hostname != host}
		im.files.SameKernel = !im.files.Elsewhere && im.features.OSRelease != "" && im.features.OSRelease == strings.TrimSpace(string(release))
	}
	return im.files
}

// mappings returns the address spaces that notes tell of. Without times in the
// samples all of them hold from the beginning.
func mappings(notes []fileNote, features *fileFeatures, timed bool) *symbol.Space {
	space := &symbol.Space{}
	for i := range notes {
		n := &notes[i]
		time := n.Time
		if !timed {
			time = 0
		}
		switch n.Kind {
		case Map:
			pid := int(int32(n.PID))
			if n.Kernel {
				pid = symbol.Kernel
			}
			if n.Start+n.Len > n.Start {
				id := hex.EncodeToString([]byte(n.BuildID))
				if id == "" {
					id = features.BuildIDs[n.Name]
				}
				space.Map(pid, time, symbol.Mapping{Start: n.Start, End: n.Start + n.Len, Offset: n.Offset, Path: n.Name, BuildID: id,
					Exec: !n.Data && (!n.Two || n.Prot&protExec != 0)})
			}
		case Fork:
			if n.PID != n.PPID {
				space.Fork(int(int32(n.PPID)), int(int32(n.PID)), time)
			}
		case Comm:
			if n.Exec {
				space.Exec(int(int32(n.PID)), time)
			}
		}
	}
	return space
}

const protExec = 4

// take changes the state by a note.
func (at *attribution) take(n *fileNote) {
	at.epoch++
	at.changed = true
	switch n.Kind {
	case Map, Exit, Switch:
	case Fork:
		if name, ok := at.commands[int32(n.PTID)]; ok {
			at.commands[int32(n.TID)] = name
		}
	case Comm:
		at.commands[int32(n.TID)] = at.names.CodeString(n.Name)
	default:
		at.lossy.take(n)
	}
}

// sample attributes row i.
func (at *attribution) sample(i int, now uint64) {
	b := at.b
	if tid := b.tid.v[i]; tid != at.tid || at.changed || i == 0 {
		at.tid, at.changed = tid, false
		at.name, at.said = at.commands[tid]
		if tid == 0 && !at.said {
			at.name, at.said = at.names.CodeString("swapper"), true
			at.commands[0] = at.name
		}
	}
	if !at.said {
		at.unnamed = append(at.unnamed, uint32(i))
	} else if at.name != 0 { // the first name is what is padded
		at.command.Pad(i)
		at.command.Append(at.name)
	}
	if b.im.lossy {
		at.lossy.sample(b, i, now)
	}
	if !at.hasCode {
		return
	}
	key := siteKey{ip: b.ip.v[i], pid: b.pid.v[i]}
	if b.stack.v != nil {
		key.stack = b.stack.v[i]
	}
	near := &at.recent[key.ip*0x9e3779b97f4a7c15>>at.shift]
	if near.ip != key.ip || near.pid != key.pid || near.stack != key.stack || near.epoch != at.epoch+1 {
		*near = recentSite{key.ip, key.pid, key.stack, at.epoch + 1, at.site(key, now)}
	}
	at.siteOf.Append(near.site)
}

// site numbers an instruction.
func (at *attribution) site(key siteKey, time uint64) uint32 {
	pid := key.pid
	key.m = at.space.Find(int(key.pid), time, key.ip)
	if key.m != nil && key.stack == 0 {
		key.pid = 0 // the mapping says all
	}
	n, ok := at.sites[key]
	if !ok {
		if len(at.sites) == maxSites {
			clear(at.sites)
		}
		n = uint32(at.pc.Len())
		at.sites[key] = n
		at.pc.Append(key.ip)
		at.at.Append(time)
		at.pid.Append(pid)
		at.stack.Append(key.stack)
	}
	return n
}

// code adds what was running: command, instruction, function, line.
func (b *builder) code(ctx context.Context, at *attribution) {
	b.commands(at)
	b.addresses("ip", b.ip, &b.r.ip)
	b.modes()
	if err := at.sitesToColumns(ctx); err != nil {
		b.fail(err)
	}
}

// commands adds the name of each thread.
func (b *builder) commands(at *attribution) {
	var valid table.Bits
	if len(at.unnamed) > 0 {
		valid = table.FullBits(b.n)
		for _, row := range at.unnamed {
			valid.Clear(int(row))
		}
	}
	var data []uint32
	var spill *table.Spill
	var err error
	if at.command.Len() == 0 {
		data, spill, err = table.Zeros[uint32](b.n)
	} else {
		at.command.Pad(b.n)
		data, spill, err = at.command.Values()
	}
	comm := table.Categories("comm", samples.Said(valid, table.Measured), data, at.names.Names(), valid)
	b.add(comm.Back(spill), err)
}

func (b *builder) modes() {
	modes := []string{"unknown", "kernel", "user", "hypervisor", "guest kernel", "guest user", "unknown", "unknown"}
	dict := table.NewInterner()
	var codes [8]uint32
	for _, m := range []int{perfevent.MiscUser, perfevent.MiscKernel, perfevent.MiscHypervisor, perfevent.MiscGuestKernel, perfevent.MiscGuestUser, 0, 6, 7} {
		codes[m] = dict.CodeString(modes[m])
	}
	data, spill, err := gather(b.n, b.mode.v, func(m uint8) uint32 { return codes[m&perfevent.MiscCPUModeMask] })
	mode := table.Categories("mode", table.Measured, data, dict.Names(), nil)
	b.add(mode.Back(spill), err)
}

// sitesToColumns names the distinct instructions and gives each row the name
// of its own.
func (at *attribution) sitesToColumns(ctx context.Context) error {
	b := at.b
	if !at.hasCode {
		return nil
	}
	pid, time, pc, stack := listed(b, &at.pid), listed(b, &at.at), listed(b, &at.pc), listed(b, &at.stack)
	siteOf := listed(b, &at.siteOf)
	all := newAccumulator()
	listing := symbol.NewListing()
	warned := map[string]bool{}
	for from := 0; from < len(pc); from += maxSites {
		to := min(from+maxSites, len(pc))
		s := &symbol.Samples{Rows: to - from, Pid: pid[from:to], Time: time[from:to], PC: pc[from:to]}
		if b.stack.v != nil {
			at.chains(s, pc[from:to], stack[from:to])
		}
		r := symbol.NewResolver(at.space, at.files, nil)
		columns, err := r.Columns(ctx, s)
		if err != nil {
			return err
		}
		all.add(columns, s.Rows)
		listing.Add(r)
		for _, w := range r.Warnings() {
			warned[w] = true
		}
	}
	var err error
	if b.listing, err = listing.Table(); err != nil {
		return err
	}
	b.im.tell(warned)
	columns, err := all.columns()
	if err != nil {
		return err
	}
	for _, c := range columns {
		if b.im.callers != nil && (c.Name == "stack" || c.Name == "caller") {
			c.Note += "; callers in the program are unwound from copies of the stack"
		}
		if c.Spill != nil {
			b.spills = append(b.spills, c.Spill)
		}
		b.add(c.Spread(siteOf))
	}
	return nil
}

// tell adds sentences about files that could not be read, a few of many.
func (im *importer) tell(sentences map[string]bool) {
	const most = 3
	list := slices.Sorted(maps.Keys(sentences))
	im.warnings = append(im.warnings, list[:min(len(list), most)]...)
	if n := len(list) - most; n > 0 {
		im.warnf("the same holds for %s: functions there are shown as offsets", term.Counted(n, "more file"))
	}
}

// listed ends a list that is not sorted by time.
func listed[T table.Fixed](b *builder, g *table.Growing[T]) []T {
	return hold[T](b)(g.Values()).v
}

// contextMarker is the smallest of the values that divide a call chain into
// kernel and user parts.
const contextMarker = ^uint64(4094)

// chains fills in the callers of each site.
func (at *attribution) chains(s *symbol.Samples, pc []uint64, stack []uint32) {
	names := at.b.im.stacks.in.Names()
	s.ChainAt = make([]int, 1, len(pc)+1)
	for i, n := range stack {
		chain := perfevent.Words{Bytes: []byte(names[n]), Order: at.b.im.Order}
		first := true
		for j := range chain.Len() {
			a := chain.At(j)
			if a >= contextMarker {
				continue
			}
			if !first || a != pc[i] {
				s.Chain = append(s.Chain, a)
			}
			first = false
		}
		s.ChainAt = append(s.ChainAt, len(s.Chain))
	}
}

// objectRows is how many rows are asked at once for their data objects.
const objectRows = 1 << 16

// objects adds the data object of each address.
func (b *builder) objects(ctx context.Context, at *attribution) {
	addr := b.r.addr
	if !addr.used || addr.all == 0 {
		return
	}
	d := symbol.NewResolver(at.space, at.files, nil).Accesses()
	for from := 0; from < b.n && ctx.Err() == nil; from += objectRows {
		to := min(from+objectRows, b.n)
		d.Add(b.accesses(from, to))
		if to%releaseRows == 0 {
			b.release()
		}
	}
	columns, err := d.Columns()
	b.fail(errors.Join(err, ctx.Err()))
	for _, c := range columns {
		b.add(c, nil)
	}
}

// accesses is the addresses of some rows.
func (b *builder) accesses(from, to int) *symbol.Samples {
	n := to - from
	s := &symbol.Samples{Rows: n, Pid: b.pid.v[from:to], Tid: b.tid.v[from:to], Time: make([]uint64, n), Addr: b.addr.v[from:to]}
	for i := range n {
		s.Time[i] = b.at(from + i)
	}
	if b.r.addr.zeros > 0 {
		s.HasAddr = nonzero(s.Addr)
	}
	return s
}
