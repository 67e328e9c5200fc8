package perfdata

import (
	"context"
	"encoding/hex"
	"maps"
	"os"
	"slices"

	"isobath/internal/symbol"
	"isobath/internal/table"
)

// attribution is what the notes say about the samples: the command of each
// thread, the code at each ip, and what was lost before. All of it is in order
// of time.
type attribution struct {
	b     *builder
	space *symbol.Space
	files *symbol.Files

	commands map[uint32]uint32 // by thread
	names    *table.Interner
	command  table.Growing[uint32]
	named    table.Bits
	lossy    losses

	// Distinct instructions, and which one each row has.
	sites   map[siteKey]uint32
	pid     table.Growing[uint32]
	at, pc  table.Growing[uint64]
	stack   table.Growing[uint32]
	siteOf  table.Growing[uint32]
	hasCode bool

	// What was found last, by instruction, while no mapping has changed.
	recent [recentSites]recentSite
	epoch  uint32

	tid     uint32 // of the last sample, whose command is name
	name    uint32
	said    bool
	changed bool // since the last sample a command may have changed
}

// recentSites is a power of two. Most samples are of few instructions.
const recentSites = 1 << 12

type recentSite struct {
	ip                      uint64
	pid, stack, epoch, site uint32
}

// siteKey is an instruction in its mapping, with the calls that led there.
type siteKey struct {
	m          *symbol.Mapping
	ip         uint64
	pid, stack uint32
}

// maxSites bounds the memory of the distinct instructions. Beyond it they are
// counted afresh: the same instruction is then looked up more than once.
const maxSites = 1 << 19

// attribute walks over samples and notes in order of time.
func (b *builder) attribute(ctx context.Context) (*attribution, error) {
	at := &attribution{
		b: b, space: &symbol.Space{}, files: b.im.binaries(), commands: map[uint32]uint32{}, names: table.NewInterner(),
		named: table.NewBits(b.n), lossy: newLosses(b.n), sites: map[siteKey]uint32{}, hasCode: b.r.ip.used,
	}
	at.mappings()
	notes := b.im.notes
	for i := range b.n {
		if i%releaseRows == 0 {
			b.release()
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		row := b.row(i)
		for len(notes) > 0 && (notes[0].Time <= b.time[row] || !b.r.time.used) {
			at.take(&notes[0])
			notes = notes[1:]
		}
		at.sample(i, row)
	}
	for i := range notes {
		at.lossy.take(&notes[i])
	}
	at.lossy.finish(b)
	return at, b.err
}

// binaries prepares the search for the files that were mapped.
func (im *importer) binaries() *symbol.Files {
	t := &im.features
	host, _ := os.Hostname()
	files := &symbol.Files{Elsewhere: t.Hostname != host}
	start := uint64(0)
	for i := range im.notes {
		if n := &im.notes[i]; n.Kind == Map && n.Kernel {
			start = n.Start
			break
		}
	}
	// The kernel's symbols of this machine are those of the recording only if
	// its text begins with the same symbol at the same place: every boot may
	// move it.
	if files.Elsewhere || !textStart(files.Kernel(), start) {
		files.UseKernel(nil)
	}
	return files
}

func textStart(k *symbol.Kallsyms, at uint64) bool {
	if k == nil || at == 0 {
		return false
	}
	name, _, ok := k.Function(at)
	return ok && slices.Contains([]string{"_text", "_stext", "startup_64", "_head", "srso_alias_untrain_ret"}, name)
}

// mappings tells the address spaces of all mappings.
func (at *attribution) mappings() {
	for i := range at.b.im.notes {
		n := &at.b.im.notes[i]
		time := n.Time
		if !at.b.r.time.used {
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
					id = at.b.im.features.BuildIDs[n.Name]
				}
				at.space.Map(pid, time, symbol.Mapping{Start: n.Start, End: n.Start + n.Len, Offset: n.Offset, Path: n.Name, BuildID: id,
					Exec: !n.Data && (!n.Two || n.Prot&protExec != 0)})
			}
		case Fork:
			if n.PID != n.PPID {
				at.space.Fork(int(int32(n.PPID)), int(int32(n.PID)), time)
			}
		case Comm:
			if n.Exec {
				at.space.Exec(int(int32(n.PID)), time)
			}
		}
	}
}

const protExec = 4

// take changes the state by a note.
func (at *attribution) take(n *Note) {
	at.epoch++
	at.changed = true
	switch n.Kind {
	case Map, Exit, Switch:
	case Fork:
		if name, ok := at.commands[n.PTID]; ok {
			at.commands[n.TID] = name
		}
	case Comm:
		at.commands[n.TID] = at.names.CodeString(n.Name)
	default:
		at.lossy.take(n)
	}
}

// sample attributes row i, which is row of the file.
func (at *attribution) sample(i, row int) {
	b := at.b
	if tid := b.tid[row]; tid != at.tid || at.changed || i == 0 {
		at.tid, at.changed = tid, false
		at.name, at.said = at.commands[tid]
		if tid == 0 && !at.said {
			at.name, at.said = at.names.CodeString("swapper"), true
			at.commands[0] = at.name
		}
	}
	if at.said {
		at.named.Set(i)
	}
	at.command.Append(at.name)
	if b.im.lossy {
		at.lossy.sample(b, i, row)
	}
	if !at.hasCode {
		return
	}
	key := siteKey{ip: b.ip[row], pid: b.pid[row]}
	if b.stack != nil {
		key.stack = b.stack[row]
	}
	near := &at.recent[(key.ip*0x9e3779b97f4a7c15)>>(64-12)]
	if near.ip != key.ip || near.pid != key.pid || near.stack != key.stack || near.epoch != at.epoch+1 {
		*near = recentSite{key.ip, key.pid, key.stack, at.epoch + 1, at.site(key, b.time[row])}
	}
	at.siteOf.Append(near.site)
}

// site numbers an instruction.
func (at *attribution) site(key siteKey, time uint64) uint32 {
	pid := key.pid
	key.m = at.space.Find(int(int32(key.pid)), time, key.ip)
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
	data, spill, err := at.command.Values()
	if len(at.names.Names()) < 2 {
		spill.Close()
		data, spill, err = table.Zeros[uint32](b.n)
	}
	comm := table.Categories("comm", said(at.named, table.Measured), data, at.names.Names(), at.named)
	b.add(comm.Back(spill), err)
	b.addresses("ip", b.ip, sampleIP)
	b.modes()
	if err := at.sitesToColumns(ctx); err != nil {
		b.fail(err)
	}
}

func (b *builder) modes() {
	modes := []string{"unknown", "kernel", "user", "hypervisor", "guest kernel", "guest user", "unknown", "unknown"}
	dict := table.NewInterner()
	var codes [8]uint32
	for _, m := range []int{modeUser, modeKernel, modeHypervisor, modeGuestKernel, modeGuestUser, 0, 6, 7} {
		codes[m] = dict.CodeString(modes[m])
	}
	data, spill, err := gather(b, b.mode, func(m uint8) uint32 { return codes[m&miscModeMask] })
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
	pid, time, pc, stack := values(b, &at.pid, at.pc.Len()), values(b, &at.at, at.pc.Len()), values(b, &at.pc, at.pc.Len()), values(b, &at.stack, at.pc.Len())
	siteOf := values(b, &at.siteOf, b.n)
	all := newAccumulator()
	listing := symbol.NewListing()
	warned := map[string]bool{}
	for from := 0; from < len(pc); from += maxSites {
		to := min(from+maxSites, len(pc))
		s := &symbol.Samples{Rows: to - from, Pid: signed(pid[from:to]), Time: time[from:to], PC: pc[from:to]}
		if b.stack != nil {
			at.chains(s, pc[from:to], stack[from:to])
		}
		r := symbol.NewResolver(at.space, at.files, nil)
		columns, err := r.Columns(ctx, s)
		if err != nil {
			return err
		}
		if err := all.add(columns, s.Rows); err != nil {
			return err
		}
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
		b.spills = append(b.spills, c.Spill)
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
		im.warnf("the same holds for %d more files: their functions are shown as offsets", n)
	}
}

func signed(v []uint32) []int32 {
	out := make([]int32, len(v))
	for i, x := range v {
		out[i] = int32(x)
	}
	return out
}

// contextMarker is the smallest of the values that divide a call chain into
// kernel and user parts.
const contextMarker = ^uint64(4094)

// chains fills in the callers of each site.
func (at *attribution) chains(s *symbol.Samples, pc []uint64, stack []uint32) {
	names := at.b.im.stacks.in.Names()
	s.ChainAt = make([]int, 1, len(pc)+1)
	for i, n := range stack {
		chain := []byte(names[n])
		first := true
		for ; len(chain) >= 8; chain = chain[8:] {
			a := at.b.im.u64(chain)
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
	all := newAccumulator()
	r := symbol.NewResolver(at.space, at.files, nil)
	for from := 0; from < b.n; from += objectRows {
		to := min(from+objectRows, b.n)
		if err := all.add(b.objectColumns(ctx, r, from, to), to-from); err != nil {
			b.fail(err)
			return
		}
		if to%releaseRows == 0 {
			b.release()
		}
	}
	columns, err := all.columns()
	if err != nil {
		b.fail(err)
		return
	}
	for _, c := range columns {
		b.add(c, nil)
	}
}

func (b *builder) objectColumns(ctx context.Context, r *symbol.Resolver, from, to int) []*table.Column {
	n := to - from
	s := &symbol.Samples{Rows: n, Pid: make([]int32, n), Tid: make([]int32, n), Time: make([]uint64, n), Addr: make([]uint64, n), HasAddr: table.NewBits(n)}
	for i := range n {
		row := b.row(from + i)
		s.Pid[i], s.Tid[i], s.Time[i], s.Addr[i] = int32(b.pid[row]), int32(b.tid[row]), b.time[row], b.addr[row]
		if s.Addr[i] != 0 {
			s.HasAddr.Set(i)
		}
	}
	columns, err := r.Columns(ctx, s)
	if err != nil {
		b.fail(err)
	}
	return columns
}
