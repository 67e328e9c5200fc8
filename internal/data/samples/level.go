package samples

// What served an access, as the level column spells it. hw.Level gives them
// their order and places them on a machine.
const (
	L1             = "L1"
	LFB            = "LFB" // line fill buffer: the line was already on its way
	L2             = "L2"
	L3             = "L3"
	L4             = "L4"
	LocalPeerCache = "Local Peer Cache"
	MSC            = "MSC" // memory-side cache
	LocalRAM       = "Local RAM"
	RemoteCache    = "Remote Cache"
	RemoteRAM      = "Remote RAM"
	PMEM           = "PMEM"
	CXL            = "CXL"
	BeyondL1       = "Beyond L1" // missed L1, served somewhere beyond
	BeyondL2       = "Beyond L2"
	BeyondL3       = "Beyond L3"
	IO             = "I/O"
	Uncached       = "Uncached"
	UnknownLevel   = "Unknown" // the hardware said it does not know
)
