package mpitrace

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// Summary is what a recording holds.
type Summary struct {
	Processes int
	Events    uint64
	Notes     []string
}

// converter makes an archive of the processes' files.
type converter struct {
	files   []*rankFile
	names   []string // of regions
	used    []bool
	comms   map[uint64]*comm // by key
	order   []*comm
	local   [][]*comm // by rank and local number
	start   uint64
	end     uint64
	out     *otf2.Writer
	region  []uint32
	sides   *sides
	groups  *groups
	sites   []callSites // by rank
	ready   bool        // some thread had to wait for a processor
	readyID uint32      // the attribute that says for how long
	machine uint32
	sum     Summary
	damaged []string
}

// comm is a communicator as all its members know it.
type comm struct {
	key           uint64
	self, inter   bool
	parent        *comm
	size, remote  uint32
	ranks, others []uint64
	id            uint32
}

// Convert reads the files rank.N of a folder and writes the archive path, which
// ends in .otf2.
func Convert(dir, path string) (*Summary, error) {
	c := &converter{names: regions(), comms: map[uint64]*comm{}}
	c.used = make([]bool, len(c.names))
	defer c.close()
	if err := c.open(dir); err != nil {
		return nil, err
	}
	if err := c.survey(); err != nil {
		return nil, err
	}
	if err := c.nameSites(dir); err != nil {
		return nil, err
	}
	if err := c.write(path); err != nil {
		return nil, err
	}
	c.notes()
	return &c.sum, nil
}

func (c *converter) close() {
	for _, f := range c.files {
		if f != nil {
			f.f.Close()
		}
	}
}

// ErrNothing means that no process was recorded.
var ErrNothing = errors.New("no MPI process was recorded: did the program call MPI_Init, and is it dynamically linked to the MPI library that mpicc uses?")

func (c *converter) open(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "rank.*"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return ErrNothing
	}
	for _, p := range paths {
		f, err := openRank(p)
		if err != nil {
			c.damaged = append(c.damaged, err.Error())
			continue
		}
		c.files = append(c.files, f)
	}
	if len(c.files) == 0 {
		return fmt.Errorf("%w (%s)", ErrNothing, strings.Join(c.damaged, "; "))
	}
	slices.SortFunc(c.files, func(a, b *rankFile) int { return int(a.rank) - int(b.rank) })
	for i, f := range c.files {
		if int(f.rank) != i || f.size != c.files[0].size {
			c.damaged = append(c.damaged, fmt.Sprintf("the files of ranks are not those of one run: rank %d of %d stands at %d", f.rank, f.size, i))
			return errors.New(c.damaged[len(c.damaged)-1])
		}
	}
	return nil
}

// survey reads everything once: communicators, regions in use, the span.
func (c *converter) survey() error {
	c.start = ^uint64(0)
	c.local = make([][]*comm, len(c.files))
	c.sides = newSides(len(c.files))
	c.groups = newGroups(len(c.files))
	c.sites = make([]callSites, len(c.files))
	for i, f := range c.files {
		last, good := f.origin, 0
		err := f.each(func(r *record) error {
			switch r.kind {
			case kEnter, kLeave:
				c.used[r.a] = true
			case kComm:
				if err := c.addComm(i, r); err != nil {
					return err
				}
			case kSite:
				c.sites[i].add(r)
			case kGroup:
				c.groups.add(i, r, len(c.files))
			case kNear:
				c.groups.near = true
			case kReady:
				c.ready = true
			case kThread: // communicators, windows and files are those of the process
			case kMembers:
				if int(r.a) < len(c.local[i]) {
					c.addMembers(c.local[i][r.a], r)
				}
			default:
				if err := c.sides.survey(c, i, r); err != nil {
					return err
				}
			}
			last = max(last, r.time)
			good++
			return nil
		})
		if err != nil { // the rest of the file is not used
			c.damaged = append(c.damaged, err.Error())
			f.good = good
		}
		c.start, c.end = min(c.start, f.corrected(f.origin)), max(c.end, f.corrected(last))
		if !f.complete {
			f.time[1], f.offset[1] = last+1, f.offset[0]
		}
	}
	return nil
}

// corrected is a time on the clock of the first rank, near enough for the span.
func (f *rankFile) corrected(t uint64) uint64 { return t + uint64(f.offset[0]) }

func (c *converter) addComm(rank int, r *record) error {
	if int(r.comm) != len(c.local[rank]) {
		return fmt.Errorf("rank %d: communicator %d comes after %d", rank, r.comm, len(c.local[rank]))
	}
	key := r.req
	self := r.op&2 != 0
	if self {
		key = 0 // every process has its own; one definition serves all
	}
	k := c.comms[key]
	if k == nil {
		k = &comm{key: key, self: self, inter: r.op&1 != 0, size: r.a, remote: uint32(r.len)}
		if p := int(r.tag); p >= 0 && p < len(c.local[rank]) {
			k.parent = c.local[rank][p]
		}
		k.id = uint32(len(c.order))
		c.comms[key] = k
		c.order = append(c.order, k)
	}
	c.local[rank] = append(c.local[rank], k)
	return nil
}

// addMembers takes over who belongs to a communicator. Of an inter-communicator
// both sides write: the first that is complete counts.
func (c *converter) addMembers(k *comm, r *record) {
	list, room := &k.ranks, k.size
	if r.op == 1 {
		list, room = &k.others, k.remote
	}
	for _, m := range r.ranks {
		if uint32(len(*list)) < room && int(m) < len(c.files) {
			*list = append(*list, uint64(m))
		}
	}
}

func (c *converter) write(path string) error {
	var err error
	c.out, err = otf2.Create(path, otf2.WriterOptions{Creator: "isobath", Resolution: 1e9, Offset: c.start, Length: c.end - c.start + 1,
		Realtime: c.files[0].realtime})
	if err != nil {
		return err
	}
	if missed := c.missed(); missed > 0 {
		c.out.Unrecorded(missed)
	}
	processes := c.places()
	c.region = make([]uint32, len(c.names))
	for i, name := range c.names {
		if c.used[i] {
			c.region[i] = c.out.Region(describe(name))
		}
	}
	c.defineSites()
	c.defineNear()
	if c.ready {
		c.readyID = c.out.Attribute(readyAttribute, "ns, at least, that the thread was ready to run before this event without a processor", typeUint64)
	}
	locations := make([]uint64, len(c.files))
	for i, f := range c.files {
		e := c.out.Location("master thread", processes[i])
		locations[i] = e.ID
		if err := c.events(i, f, e, processes[i]); err != nil {
			return err
		}
	}
	c.defineComms(locations)
	c.groups.define(c.out)
	c.sides.define(c.out, c.machine)
	return c.out.Close()
}

// places defines hosts and processes.
func (c *converter) places() []uint32 {
	c.machine = c.out.Node("machine", "machine", otf2.None)
	hosts := map[string]uint32{}
	var out []uint32
	for _, f := range c.files {
		if _, ok := hosts[f.host]; !ok {
			hosts[f.host] = c.out.Node(f.host, "node", c.machine)
		}
		out = append(out, c.out.Process(fmt.Sprintf("MPI Rank %d", f.rank), hosts[f.host]))
	}
	return out
}

// defineComms numbers communicators. Events hold numbers of this order.
func (c *converter) defineComms(locations []uint64) {
	c.out.CommLocations(locations)
	for _, k := range c.order {
		parent := otf2.None
		if k.parent != nil {
			parent = k.parent.id
		}
		switch {
		case k.self:
			c.out.Comm("MPI_COMM_SELF", nil, parent)
		case k.inter:
			c.out.InterComm(fmt.Sprintf("inter-communicator %d", k.id), k.ranks, k.others, parent)
		case k.id == 0:
			c.out.Comm("MPI_COMM_WORLD", k.ranks, parent)
		default:
			c.out.Comm(fmt.Sprintf("communicator %d", k.id), k.ranks, parent)
		}
	}
}

// Roles of regions and codes of paradigms in OTF2.
const (
	roleFunction     = 1
	roleBarrier      = 15
	roleOneToAll     = 23
	roleAllToOne     = 24
	roleAllToAll     = 25
	roleOther        = 26
	roleFile         = 27
	rolePointToPoint = 28
	roleOneSided     = 29
	paradigmUser     = 1
)

var collectiveRoles = map[string]uint8{"0": roleBarrier, "1": roleOneToAll, "4": roleOneToAll, "5": roleOneToAll, "2": roleAllToOne, "3": roleAllToOne, "12": roleAllToOne,
	"14": roleOther, "15": roleOther}

// describe says what kind of function a region is.
func describe(name string) otf2.RegionInfo {
	info := otf2.RegionInfo{Name: name, Role: roleFunction, Paradigm: otf2.ParadigmMPI}
	if name == "PROGRAM" {
		info.Paradigm = paradigmUser
		return info
	}
	for _, f := range functions() {
		if "MPI_"+f.name != name {
			continue
		}
		switch {
		case f.has("win"), f.has("winp"):
			info.Role = roleOneSided
		case strings.HasPrefix(f.name, "File_"):
			info.Role = roleFile
		}
		if info.Role != roleFunction {
			break
		}
		switch f.role {
		case "collective", "nbc", "nbcinit":
			info.Role = roleAllToAll
			if r, ok := collectiveRoles[f.op]; ok {
				info.Role = r
			}
		case "plain":
			info.Role = plainRole(f.name)
		case "near", "inear":
			info.Role = roleOther
		case "newcomm", "idup", "commfree":
		default:
			info.Role = rolePointToPoint
		}
	}
	return info
}

// plainRole is the role of a function of which only entry and end are recorded.
func plainRole(name string) uint8 {
	switch {
	case strings.Contains(name, "eighbor_"):
		return roleOther
	case strings.HasPrefix(name, "P"), strings.HasPrefix(name, "Iprobe"): // Probe, Pready, Parrived
		return rolePointToPoint
	}
	return roleFunction
}

// missed is how many calls are not recorded, of more threads than are told apart.
func (c *converter) missed() (n uint64) {
	for _, f := range c.files {
		n += f.missed
	}
	return n
}

func (c *converter) notes() {
	c.sum.Processes = len(c.files)
	missing := int(c.files[0].size) - len(c.files)
	if missing > 0 {
		c.sum.Notes = append(c.sum.Notes, fmt.Sprintf("%d of %d processes left no file", missing, c.files[0].size))
	}
	cut := 0
	for _, f := range c.files {
		if !f.complete {
			cut++
		}
	}
	if cut > 0 {
		c.sum.Notes = append(c.sum.Notes, fmt.Sprintf("%s ended without MPI_Finalize; what was done until then is recorded", term.Counted(cut, "process")))
	}
	if missed := c.missed(); missed > 0 {
		c.sum.Notes = append(c.sum.Notes, fmt.Sprintf("%s of more threads than are told apart %s not recorded", term.Counted(missed, "call"), term.Agree(missed, "is", "are")))
	}
	for _, k := range c.order {
		if !k.self && len(k.ranks) != int(k.size) {
			c.sum.Notes = append(c.sum.Notes, fmt.Sprintf("of the %d members of communicator %d only %d are known", k.size, k.id, len(k.ranks)))
		}
	}
	c.sum.Notes = append(c.sum.Notes, c.damaged...)
}
