package otf2

// Records of one-sided communication and of files, which writers use by name.
const (
	RMAWinCreate             Kind = 35
	RMAWinDestroy            Kind = 36
	RMACollectiveBegin       Kind = 37
	RMACollectiveEnd         Kind = 38
	RMAGroupSync             Kind = 39
	RMARequestLock           Kind = 40
	RMAAcquireLock           Kind = 41
	RMAReleaseLock           Kind = 43
	RMASync                  Kind = 44
	RMAPut                   Kind = 46
	RMAGet                   Kind = 47
	RMAAtomic                Kind = 48
	RMAOpCompleteNonBlocking Kind = 50
	RMAOpCompleteRemote      Kind = 52
	IOCreateHandle           Kind = 69
	IODestroyHandle          Kind = 70
	IOSeek                   Kind = 72
	IODeleteFile             Kind = 74
	IOOperationBegin         Kind = 75
	IOOperationIssued        Kind = 77
	IOOperationComplete      Kind = 78
)

const (
	defIOParadigm    DefKind = 8
	defRMAWin        DefKind = 24
	defIORegularFile DefKind = 38
	defIOHandle      DefKind = 40
)

// Window defines a window of one-sided communication, whose creation and end are
// events.
func (w *Writer) Window(name string, comm uint32) uint32 {
	const hasEvents = 1
	return w.define(Definition{Kind: defRMAWin, F: fieldsIn(uint64(w.counts[defRMAWin]), uint64(w.String(name)), uint64(comm), hasEvents)})
}

// IOParadigm defines a way to use files in which processes take part together.
func (w *Writer) IOParadigm(name string) uint32 {
	const parallel = 1
	text := uint64(w.String(name))
	return w.define(Definition{Kind: defIOParadigm, F: fieldsIn(uint64(w.counts[defIOParadigm]), text, text, parallel, 0)})
}

// File defines a file that is the same below a node of the system tree.
func (w *Writer) File(path string, node uint32) uint32 {
	return w.define(Definition{Kind: defIORegularFile, F: fieldsIn(uint64(w.counts[defIORegularFile]), uint64(w.String(path)), uint64(node))})
}

// FileHandle defines what the processes of a communicator use a file by.
func (w *Writer) FileHandle(name string, file, paradigm, comm uint32) uint32 {
	return w.define(Definition{Kind: defIOHandle, F: fieldsIn(uint64(w.counts[defIOHandle]), uint64(w.String(name)), uint64(file), uint64(paradigm), 0, uint64(comm), uint64(None))})
}
