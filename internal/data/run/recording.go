package run

import (
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
)

// Recording is what a run that we recorded says about how that went.
type Recording struct {
	Mode string `json:"mode"` // "PEBS", "IBS", "SPE" or "timer"
	// Why says why a better way of sampling was not possible.
	Why    []string `json:"why,omitempty"`
	Event  string   `json:"event"`
	Period uint64   `json:"period"` // of the event, in its unit
	// Weight is what one sample stands for.
	Weight string `json:"weight"`
	Rank   *int   `json:"rank,omitempty"` // of an MPI program
	// Group is the control group whose processes were recorded; All says that it was
	// every process of the machine.
	Group string `json:"cgroup,omitempty"`
	All   bool   `json:"all,omitempty"`
	// Threshold is the latency below which loads were not sampled, in cycles.
	Threshold int `json:"latency_threshold,omitempty"`
	// Trial is the trial of two commands that this run is part of.
	Trial *Trial `json:"trial,omitempty"`

	// ClockOffset is what to add to times of the samples, which count from the
	// start of the machine, to get nanoseconds since 1970.
	ClockOffset int64 `json:"clock_offset"`
	// Since1970 says that times count from there already, as after the clocks of
	// several hosts were brought together.
	Since1970 bool `json:"since_1970,omitempty"`

	Ended   string  `json:"ended"`            // how the recording ended
	Signal  string  `json:"signal,omitempty"` // that ended the program
	Status  int     `json:"status"`
	Seconds float64 `json:"seconds"`
	User    float64 `json:"user_seconds"`
	System  float64 `json:"system_seconds"`

	// Last is set where only the end of the recording was kept.
	Last *Last `json:"last,omitempty"`

	Samples int `json:"samples"`
	// Addresses counts samples by how their address was found or why not.
	Addresses map[string]int `json:"addresses,omitempty"`
	Touches   int            `json:"first_touches"`
	// Kernel and Other count samples of hardware that were left out: taken in
	// the kernel, and of operations without a memory access.
	Kernel int `json:"kernel,omitempty"`
	// InKernel counts the samples of the kernel that are there, by why it ran.
	InKernel map[string]int `json:"in_kernel,omitempty"`
	Other    int            `json:"without_access,omitempty"`

	Lost      uint64 `json:"lost"`
	Throttled uint64 `json:"throttled"`
	Damaged   uint64 `json:"damaged"`
	Truncated uint64 `json:"truncated,omitempty"` // times that a unit's own buffer was full
	// LostTouches are page faults that found their buffer full.
	LostTouches uint64 `json:"lost_touches,omitempty"`
	Heap        *Heap  `json:"heap,omitempty"`

	// Model says how levels were estimated; nil if they were not.
	Model *Model `json:"model,omitempty"`

	Machine     System            `json:"machine"`
	Environment map[string]string `json:"environment,omitempty"`
	Modules     []Module          `json:"modules,omitempty"`
}

// Trial says where in a trial of two commands a run belongs.
type Trial struct {
	ID   string `json:"id"`
	Pair int    `json:"pair"`
	Side string `json:"side"` // "a" or "b"
	// First says that this side of the pair ran before the other.
	First    bool       `json:"first"`
	Commands [][]string `json:"commands"` // of a and of b
}

// Last is the end of a recording that kept no more than that, in seconds since
// the recording began.
type Last struct {
	Asked float64 `json:"asked_seconds"` // how much of the end was to be kept
	From  float64 `json:"from"`
	To    float64 `json:"to"`
}

// Heap is what the allocation log says about itself.
type Heap struct {
	Threshold   int64  `json:"threshold"`
	Allocations int    `json:"allocations"`
	Missed      uint64 `json:"missed"` // entries that found the log at its end
	// Summed counts allocations of places that allocate all the time, and those
	// after the end of the log; they are not logged one by one.
	Summed      uint64 `json:"summed,omitempty"`
	SummedBytes uint64 `json:"summed_bytes,omitempty"`
	// Small are the allocations below the threshold, by estimate.
	Small      float64 `json:"small,omitempty"`
	SmallBytes float64 `json:"small_bytes,omitempty"`
	// Peak is the most bytes of logged ones that lived at once in one process.
	Peak uint64 `json:"peak,omitempty"`
	// Absent says why there is no log.
	Absent string `json:"absent,omitempty"`
}

// Model is an estimate of what was not measured.
type Model struct {
	Topology string         `json:"topology"` // the machine that is modelled
	Method   string         `json:"method"`
	Levels   map[string]int `json:"levels"` // samples
}

// System is the machine a recording was made on.
type System struct {
	Kernel    string `json:"kernel,omitempty"`
	Processor string `json:"processor,omitempty"`
	Arch      string `json:"arch,omitempty"`
	Memory    uint64 `json:"memory,omitempty"` // bytes
	Pages     string `json:"huge_pages,omitempty"`
	Balancing string `json:"numa_balancing,omitempty"`
}

// Module is a program or library in which samples were taken.
type Module struct {
	Path    string `json:"path"`
	BuildID string `json:"build_id,omitempty"`
	Samples int    `json:"samples"`
}

// FindSources looks below the roots for the source files that the tables name.
func (r *Run) FindSources(roots []string) {
	r.findSources(func(names []string) map[string]source.Match { return source.Find(names, roots) })
}

// FindOwnSources is FindSources for a program that was run here, which names its
// sources by where they are.
func (r *Run) FindOwnSources(roots []string) {
	r.findSources(func(names []string) map[string]source.Match { return source.FindOwn(names, roots) })
}

func (r *Run) findSources(find func(names []string) map[string]source.Match) {
	r.SourceFiles = map[string]source.File{}
	for _, t := range r.Contents {
		file := t.Column("file")
		if file == nil || file.Kind != table.Category {
			continue
		}
		for name, m := range find(file.Dict) {
			if _, ok := r.SourceFiles[name]; !ok {
				r.SourceFiles[name] = m.File
				r.Sources = append(r.Sources, SourceEntry{Name: name, Found: string(m.How)})
			}
		}
	}
	slices.SortFunc(r.Sources, func(a, b SourceEntry) int { return strings.Compare(a.Name, b.Name) })
}
