package perfdata

import (
	"context"

	"isobath/internal/table"
)

// attribution is what the notes say about the samples: the command of each
// thread, the file mapped at each ip, and what was lost before it. All of it is
// in order of time.
type attribution struct {
	spaces   map[uint32]*space
	commands map[uint32]uint32 // by thread
	modules  *table.Interner
	names    *table.Interner

	module, command  table.Growing[uint32]
	hasModule, named table.Bits
	lossy            losses

	// The last sample's process and thread: the next one is often of the same.
	pid, tid    uint32
	space       *space
	commandCode uint32
	commandSaid bool
	fresh       bool
}

// attribute walks over samples and notes in order of time.
func (b *builder) attribute(ctx context.Context) (*attribution, error) {
	at := &attribution{
		spaces: map[uint32]*space{}, commands: map[uint32]uint32{},
		modules: table.NewInterner(), names: table.NewInterner(),
		hasModule: table.NewBits(b.n), named: table.NewBits(b.n), lossy: newLosses(b.n),
	}
	at.commands[0] = at.names.CodeString("swapper")
	notes := b.im.notes
	for i := range b.n {
		if i%(1<<20) == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		row := b.row(i)
		for len(notes) > 0 && (notes[0].Time <= b.time[row] || !b.im.rows.time.used) {
			at.take(&notes[0])
			notes = notes[1:]
		}
		at.sample(b, i, row)
	}
	for i := range notes {
		at.lossy.take(&notes[i])
	}
	at.lossy.finish(b)
	return at, b.err
}

// take changes the state by a note.
func (at *attribution) take(n *Note) {
	at.fresh = false
	switch n.Kind {
	case Map:
		pid := n.PID
		if n.Kernel {
			pid = kernelPID
		}
		if end := n.Start + n.Len; end > n.Start {
			at.spaceOf(pid).insert(region{n.Start, end, n.Offset, at.modules.CodeString(n.Name)})
		}
	case Fork:
		if n.PID != n.PPID {
			at.spaces[n.PID] = &space{regions: append([]region(nil), at.spaceOf(n.PPID).regions...)}
		}
		if name, ok := at.commands[n.PTID]; ok {
			at.commands[n.TID] = name
		}
	case Comm:
		at.commands[n.TID] = at.names.CodeString(n.Name)
		if n.Exec {
			at.spaces[n.PID] = &space{}
		}
	default:
		at.lossy.take(n)
	}
}

func (at *attribution) spaceOf(pid uint32) *space {
	s := at.spaces[pid]
	if s == nil {
		s = &space{}
		at.spaces[pid] = s
	}
	return s
}

// sample attributes row i, which is row of the file.
func (at *attribution) sample(b *builder, i, row int) {
	pid, tid, ip := b.pid[row], b.tid[row], b.ip[row]
	if !at.fresh || pid != at.pid {
		at.pid, at.space = pid, at.spaceOf(pid)
	}
	if !at.fresh || tid != at.tid {
		at.tid = tid
		at.commandCode, at.commandSaid = at.commands[tid], false
		if _, ok := at.commands[tid]; ok {
			at.commandSaid = true
		}
	}
	at.fresh = true
	if at.commandSaid {
		at.named.Set(i)
	}
	at.command.Append(at.commandCode)

	s := at.space
	if m := b.mode[row]; m == modeKernel || m == 0 && ip>>63 != 0 {
		s = at.spaceOf(kernelPID)
	}
	r, ok := s.find(ip)
	if ok {
		at.hasModule.Set(i)
	}
	at.module.Append(r.module)
	at.lossy.sample(b, i, row)
}

// code adds what was running: command, instruction, file.
func (b *builder) code(at *attribution) {
	category := func(name string, g *table.Growing[uint32], names []string, valid table.Bits) {
		data, spill, err := g.Values()
		if len(names) == 0 {
			valid = table.NewBits(b.n)
		}
		b.add(table.Categories(name, said(valid, table.Measured), data, names, valid).Back(spill), err)
	}
	category("comm", &at.command, at.names.Names(), at.named)
	b.addresses("ip", b.ip, sampleIP)
	category("module", &at.module, at.modules.Names(), at.hasModule)
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
