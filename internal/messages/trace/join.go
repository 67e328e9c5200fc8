package trace

// join lays the columns of the processes one after another. Each timeline's
// columns are released as they are copied, so that both forms are never held
// for the whole trace.
func (t *Trace) join(lines []*timeline, order []int32, waiting *shelf) {
	if t.reserve(lines, order); t.room.err != nil {
		return
	}
	t.Ops.Start = make([]int32, 1, len(order)+1)
	calls, made := int32(0), int32(0)
	for p, row := range order {
		l := lines[row]
		calls += made
		made = int32(len(l.line.enter))
		ops, frames := int32(len(t.Ops.Enter)), int32(len(t.Frames.Region))
		sends, recvs, waits := int32(len(t.Sends.Op)), int32(len(t.Recvs.Op)), int32(len(t.Waits.Op))
		for i, ref := range l.ops.Ref {
			switch l.ops.Kind[i] {
			case Send:
				l.ops.Ref[i] = shifted(ref, sends)
			case Recv:
				l.ops.Ref[i] = shifted(ref, recvs)
			}
		}
		shift(l.ops.Frame, frames)
		shift(l.frames.Parent, frames)
		shift(l.sends.Op, ops)
		shift(l.sends.Wait, waits)
		shift(l.recvs.Op, ops)
		shift(l.waits.Op, ops)
		shift(l.ops.Call, calls)
		shift(l.recvs.Post, calls)
		shift(l.waits.Call, calls)
		for i := range l.holds {
			l.holds[i].from, l.holds[i].to = l.holds[i].from+recvs, shifted(l.holds[i].to, sends)
		}
		t.Ops.add(&l.ops)
		t.Frames.add(&l.frames)
		t.Sends.add(&l.sends)
		t.Recvs.add(&l.recvs)
		t.Waits.add(&l.waits, int32(p))
		t.Repairs.add(&l.repairs)
		t.Ops.Start = append(t.Ops.Start, int32(len(t.Ops.Enter)))
		t.Procs[p].Ops = [2]int32{ops, int32(len(t.Ops.Enter))}
		size := l.bytes()
		l.ops, l.frames, l.sends, l.recvs, l.waits = Ops{}, Frames{}, Ends{}, Ends{}, Waits{}
		t.room.use(size, waiting.Release)
	}
}

// joinTimes lists the region times of all locations, also of threads that do
// not communicate, under the process they belong to.
func (t *Trace) joinTimes(lines []*timeline, h *homes) {
	n := 0
	for _, l := range lines {
		n += len(l.times)
	}
	t.Times = make([]RegionTime, 0, n)
	for i, l := range lines {
		for _, rt := range l.times {
			if rt.Proc = h.proc[i]; rt.Proc >= 0 {
				t.Times = append(t.Times, rt)
			}
		}
		l.times = nil
	}
}

func shifted(v, by int32) int32 {
	if v < 0 {
		return v
	}
	return v + by
}

func shift(col []int32, by int32) {
	for i, v := range col {
		col[i] = shifted(v, by)
	}
}

// reserve makes the columns in their final size at once.
func (t *Trace) reserve(lines []*timeline, order []int32) {
	var ops, frames, sends, recvs, waits int
	for _, row := range order {
		l := lines[row]
		ops += len(l.ops.Enter)
		frames += len(l.frames.Region)
		sends += len(l.sends.Op)
		recvs += len(l.recvs.Op)
		waits += len(l.waits.Op)
	}
	i32 := func(n int) []int32 { return makeIn[int32](t.room, n) }
	i64 := func(n int) []int64 { return makeIn[int64](t.room, n) }
	t.Ops = Ops{Enter: i64(ops), Exit: i64(ops), Region: i32(ops), Frame: i32(ops), Kind: makeIn[Kind](t.room, ops),
		Flags: makeIn[uint8](t.room, ops), Ref: i32(ops), N: i32(ops), Last: i32(ops), Call: i32(ops)}
	t.Frames = Frames{Region: i32(frames), Parent: i32(frames), Enter: i64(frames), Exit: i64(frames)}
	t.Sends = Ends{Op: i32(sends), Peer: i32(sends), Comm: i32(sends), Tag: makeIn[uint32](t.room, sends), Bytes: i64(sends),
		Match: i32(sends), Wait: i32(sends)}
	t.Recvs = Ends{Op: i32(recvs), Peer: i32(recvs), Comm: i32(recvs), Tag: makeIn[uint32](t.room, recvs), Bytes: i64(recvs),
		Match: i32(recvs), Post: i32(recvs)}
	t.Waits = Waits{Op: i32(waits), Call: i32(waits), Proc: i32(waits), Region: i32(waits), Enter: i64(waits), Exit: i64(waits)}
}

func (o *Ops) add(l *Ops) {
	o.Enter, o.Exit = append(o.Enter, l.Enter...), append(o.Exit, l.Exit...)
	o.Region, o.Frame = append(o.Region, l.Region...), append(o.Frame, l.Frame...)
	o.Kind, o.Flags = append(o.Kind, l.Kind...), append(o.Flags, l.Flags...)
	o.Ref, o.N = append(o.Ref, l.Ref...), append(o.N, l.N...)
	o.Last, o.Call = append(o.Last, l.Last...), append(o.Call, l.Call...)
	o.Site = append(o.Site, l.Site...)
}

func (f *Frames) add(l *Frames) {
	f.Region, f.Parent = append(f.Region, l.Region...), append(f.Parent, l.Parent...)
	f.Enter, f.Exit = append(f.Enter, l.Enter...), append(f.Exit, l.Exit...)
}

// add appends the ends of one process; Match of receives is still unknown.
func (e *Ends) add(l *Ends) {
	e.Op, e.Peer, e.Comm = append(e.Op, l.Op...), append(e.Peer, l.Peer...), append(e.Comm, l.Comm...)
	e.Tag, e.Bytes = append(e.Tag, l.Tag...), append(e.Bytes, l.Bytes...)
	e.Match, e.Wait, e.Post = append(e.Match, l.Match...), append(e.Wait, l.Wait...), append(e.Post, l.Post...)
	for len(e.Match) < len(e.Op) {
		e.Match = append(e.Match, None)
	}
}

func (w *Waits) add(l *Waits, proc int32) {
	w.Op, w.Region, w.Call = append(w.Op, l.Op...), append(w.Region, l.Region...), append(w.Call, l.Call...)
	w.Enter, w.Exit = append(w.Enter, l.Enter...), append(w.Exit, l.Exit...)
	for range l.Op {
		w.Proc = append(w.Proc, proc)
	}
}

func (r *Repairs) add(l *Repairs) {
	r.Nesting += l.Nesting
	r.Unclosed += l.Unclosed
	r.Backwards += l.Backwards
	r.Reused += l.Reused
	r.Orphans += l.Orphans
	r.BadPeers += l.BadPeers
	r.NoComm += l.NoComm
	r.Cancelled += l.Cancelled
}

// collect joins a column of all processes that is needed for matching only.
func collect(lines []*timeline, order []int32, col func(*timeline) []int32) []int32 {
	n := 0
	for _, row := range order {
		n += len(col(lines[row]))
	}
	out := make([]int32, 0, n)
	for _, row := range order {
		out = append(out, col(lines[row])...)
	}
	return out
}
