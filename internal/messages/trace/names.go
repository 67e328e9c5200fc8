package trace

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// names translates the ids of an archive to rows of the trace's tables. It is
// filled before any location is read and only read afterwards.
type names struct {
	regions  []Region
	byRegion index
	contexts map[uint64]int32
	sites    []Site
	bySite   map[uint64]int32 // context to the place of its call
	calledBy uint32           // the attribute that names the caller of MPI; otf2.None without
	ready    uint32           // the attribute readyWithout; the same
	comms    []Comm
	byComm   index
	members  []otf2.Members
	windows  map[uint64]int32 // to the communicator
	handles  map[uint64]int32 // of files; only those of several processes
	signals  int32            // the communicator of signals; None without
	groups   map[uint64][]int32
	sentTo   uint32 // attributes; otf2.None without
	gotFrom  uint32
	outside  int32 // region of records outside any region
	unknown  int32 // region of undefined ids
	roles    []role
	local    []bool // calls of MPI that wait for nobody
}

// role is what a region means for requests.
type role uint8

const (
	roleOther role = iota
	roleWait
	roleWaitAll
)

func roleOf(region string) role {
	name := strings.TrimPrefix(strings.ToLower(region), "mpi_")
	switch {
	case len(name) == len(region):
		return roleOther
	case name == "waitall" || name == "testall":
		return roleWaitAll
	case strings.HasPrefix(name, "wait") || strings.HasPrefix(name, "test"):
		return roleWait
	}
	return roleOther
}

// index maps ids to rows. Ids are small and dense in most archives, but one
// tracer multiplies them by 2^27, so both forms are needed.
type index struct {
	dense  []int32
	sparse map[uint64]int32
	other  int32 // row for ids that are not defined
}

// denseLimit is the largest id that is looked up in a slice.
const denseLimit = 1 << 20

func (x *index) set(id uint64, row int32) {
	if id >= denseLimit {
		if x.sparse == nil {
			x.sparse = map[uint64]int32{}
		}
		x.sparse[id] = row
		return
	}
	for uint64(len(x.dense)) <= id {
		x.dense = append(x.dense, x.other)
	}
	x.dense[id] = row
}

func (x *index) at(id uint64) int32 {
	if id < uint64(len(x.dense)) {
		return x.dense[id]
	}
	if row, ok := x.sparse[id]; ok {
		return row
	}
	return x.other
}

func (n *names) region(id uint64) int32 { return n.byRegion.at(id) }
func (n *names) comm(id uint64) int32   { return n.byComm.at(id) }

func (n *names) context(id uint64) int32 {
	if row, ok := n.contexts[id]; ok {
		return row
	}
	return n.unknown
}

func newNames(d *otf2.Definitions) *names {
	n := &names{contexts: map[uint64]int32{}}
	n.regions = []Region{{Name: "(no region)"}, {Name: "(unknown region)"}}
	n.outside, n.unknown = 0, 1
	n.byRegion.other = n.unknown
	// One tracer defines the same regions again for every rank: rows are
	// shared by name and place.
	seen := map[Region]int32{}
	for _, id := range sortedKeys(d.Regions) {
		r := newRegion(d, d.Regions[id])
		row, ok := seen[r]
		if !ok {
			row = int32(len(n.regions))
			seen[r] = row
			n.regions = append(n.regions, r)
		}
		n.byRegion.set(uint64(id), row)
	}
	n.roles = make([]role, len(n.regions))
	for i, r := range n.regions {
		n.roles[i] = roleOf(r.Name)
		n.local = append(n.local, isLocal(r.Name))
	}
	for id, c := range d.Contexts {
		n.contexts[uint64(id)] = n.region(uint64(c.Region))
	}
	n.findSites(d)
	n.calledBy, n.ready = otf2.None, otf2.None
	for id, a := range d.Attributes {
		switch text := d.Text(a.Name); {
		case text == callSite && a.Type == typeContext:
			n.calledBy = id
		case text == readyWithout && a.Type == typeUint64:
			n.ready = id
		}
	}
	n.comms = []Comm{{ID: otf2.None, Name: "(unknown communicator)"}}
	n.members = []otf2.Members{{}}
	for _, id := range sortedKeys(d.Comms) {
		m := d.Members(id)
		n.byComm.set(uint64(id), int32(len(n.comms)))
		n.comms = append(n.comms, Comm{ID: id, Name: d.Text(d.Comms[id].Name), Self: m.Self})
		n.members = append(n.members, m)
	}
	n.windows, n.handles = n.shared(d.Windows), n.shared(d.Handles)
	return n
}

// shared gives the communicators of things that processes share; what has none
// is left out.
func (n *names) shared(of map[uint32]uint32) map[uint64]int32 {
	out := map[uint64]int32{}
	for id, comm := range of {
		if row := n.comm(uint64(comm)); row > 0 && n.members[row].OK {
			out[uint64(id)] = row
		}
	}
	return out
}

// findSites notes where in the source each calling context was called from.
func (n *names) findSites(d *otf2.Definitions) {
	rows := map[Site]int32{}
	for _, id := range sortedKeys(d.Contexts) {
		source, ok := d.Sources[d.Contexts[id].Source]
		if !ok {
			continue
		}
		site := Site{d.Text(source.File), source.Line}
		row, ok := rows[site]
		if !ok {
			row = int32(len(n.sites))
			rows[site] = row
			n.sites = append(n.sites, site)
		}
		if n.bySite == nil {
			n.bySite = map[uint64]int32{}
		}
		n.bySite[uint64(id)] = row
	}
}

// site returns the row of the place a context was called from.
func (n *names) site(context uint64) int32 {
	if row, ok := n.bySite[context]; ok {
		return row
	}
	return None
}

// callSite is the attribute of the entries of our recorder: a calling context
// with the function and the line that called MPI.
const (
	callSite    = "isobath::call site"
	typeContext = 21
)

// readyWithout is the attribute of entries and exits of our recorder: for how many
// nanoseconds, at least, the thread was ready to run before them while others had
// the processors, as the kernel counts it.
const (
	readyWithout = "isobath::ready without a processor"
	typeUint64   = 4
)

// caller returns the place and the function that an entry was called from, if its
// attributes say so.
func (n *names) caller(list []otf2.AttributeValue) (site, caller int32) {
	for i := range list {
		if list[i].ID == n.calledBy && list[i].Value.Type == typeContext {
			return n.site(list[i].Value.Bits), n.context(list[i].Value.Bits)
		}
	}
	return None, None
}

// perGroup translates the ranks of every communicator, once for all that share
// a group.
func (n *names) perGroup(translate func([]uint64) []int32) [][]int32 {
	done := map[uint32][]int32{}
	out := make([][]int32, len(n.members))
	for i, m := range n.members {
		if !m.OK {
			continue
		}
		rows, ok := done[m.Group]
		if !ok {
			rows = translate(m.Ranks)
			done[m.Group] = rows
		}
		out[i] = rows
	}
	return out
}

func newRegion(d *otf2.Definitions, r otf2.Region) Region {
	name := d.Text(r.Name)
	if name == "" {
		name = d.Text(r.Canonical)
	}
	full, short := readable(name)
	out := Region{Name: full, short: short, MPI: r.Paradigm == otf2.ParadigmMPI || strings.HasPrefix(name, "MPI_"), Group: groupOf(name, r.Paradigm, r.Role)}
	if r.File != otf2.None {
		out.File = d.Text(r.File)
	}
	if out.File != "" && r.Begin != otf2.None {
		out.Line = r.Begin
	}
	return out
}

// readable is a name as it was written in the source, in full and without
// parameters and template arguments, if a compiler mangled it.
func readable(name string) (full, short string) {
	full = demangle.Filter(name)
	if full == name {
		return name, name
	}
	return full, demangle.Filter(name, demangle.NoParams, demangle.NoTemplateParams)
}

func sortedKeys[V any](m map[uint32]V) []uint32 {
	keys := make([]uint32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// rowOf maps location ids to rows of the list of locations.
func rowOf(locations []otf2.Location) map[uint64]int32 {
	m := make(map[uint64]int32, len(locations))
	for i, l := range locations {
		m[l.ID] = int32(i)
	}
	return m
}
