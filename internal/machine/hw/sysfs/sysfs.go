// Package sysfs reads the hardware tree of the machine it runs on from what the
// Linux kernel shows in /sys and /proc. It needs no tool and no privilege.
package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/machine/hw"
)

// Local describes the machine this program runs on.
func Local() (*hw.Topology, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("the hardware of this machine cannot be read on %s; give a file made by lstopo", runtime.GOOS)
	}
	return read(os.DirFS("/"), os.Getpagesize())
}

// read describes the machine whose root folder is given, which must contain
// sys/devices/system/cpu. How large a page is, 0 if unknown, sysfs does not say.
func read(root fs.FS, page int) (*hw.Topology, error) {
	r := &reader{root: root, seen: map[reported]bool{}}
	online, err := r.cpus(cpuRoot + "/online")
	if errors.Is(err, fs.ErrNotExist) {
		online, err = r.numbered(cpuRoot, "cpu")
	}
	if err != nil {
		return nil, fmt.Errorf("list of CPUs: %w; is sysfs mounted?", err)
	}
	r.spec.Source, r.spec.Page = "sysfs", page
	r.spec.Name = r.text("proc/sys/kernel/hostname")
	r.model = r.cpuModel()
	for _, cpu := range online {
		r.cpu(cpu)
	}
	if err := r.memory(); err != nil {
		return nil, err
	}
	r.classes(online)
	r.blocked(online)
	return hw.Build(r.spec)
}

const (
	cpuRoot  = "sys/devices/system/cpu"
	nodeRoot = "sys/devices/system/node"
)

type reader struct {
	root  fs.FS
	spec  hw.Spec
	model string
	seen  map[reported]bool
}

// reported identifies an object that another CPU told of already. Two of one kind
// never share their first CPU.
type reported struct {
	kind        hw.Kind
	instruction bool
	first       int
}

// text returns the trimmed content of a file, empty if it cannot be read: what
// is there varies with kernel, processor and hypervisor.
func (r *reader) text(name string) string {
	data, err := fs.ReadFile(r.root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func (r *reader) number(name string, def int) int {
	n, err := strconv.ParseInt(r.text(name), 10, 32)
	if err != nil {
		return def
	}
	return int(n)
}

func (r *reader) cpus(name string) (hw.CPUs, error) {
	data, err := fs.ReadFile(r.root, name)
	if err != nil {
		return nil, err
	}
	return hw.ParseCPUs(string(data))
}

// numbered lists the numbers of entries such as node0, node1.
func (r *reader) numbered(folder, prefix string) (hw.CPUs, error) {
	entries, err := fs.ReadDir(r.root, folder)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), prefix)
		if n, err := strconv.ParseUint(digits, 10, 20); ok && err == nil {
			found = append(found, int(n))
		}
	}
	return hw.NewCPUs(found), nil
}

// add keeps an object unless another CPU told of it before.
func (r *reader) add(o hw.Object) {
	key := reported{o.Kind, o.Instruction, o.CPUs[0]}
	if !r.seen[key] {
		r.seen[key] = true
		r.spec.Objects = append(r.spec.Objects, o)
	}
}

// cpu adds a CPU, and the core, die, package and caches it names.
func (r *reader) cpu(cpu int) {
	base := fmt.Sprintf("%s/cpu%d", cpuRoot, cpu)
	r.add(hw.Object{Kind: hw.CPU, OS: cpu, CPUs: hw.CPUs{cpu}})
	topology := base + "/topology/"
	// Kernels before 5.3 have the names on the right.
	for _, g := range []struct {
		kind      hw.Kind
		list, old string
		id        string
	}{
		{hw.Core, "core_cpus_list", "thread_siblings_list", "core_id"},
		{hw.Die, "die_cpus_list", "", "die_id"},
		{hw.Package, "package_cpus_list", "core_siblings_list", "physical_package_id"},
	} {
		set, err := r.cpus(topology + g.list)
		if err != nil && g.old != "" {
			set, err = r.cpus(topology + g.old)
		}
		if err != nil || !set.Has(cpu) {
			continue
		}
		o := hw.Object{Kind: g.kind, OS: max(r.number(topology+g.id, -1), -1), CPUs: set}
		if g.kind == hw.Package {
			o.Model = r.model
		}
		// A die that is the whole package adds nothing.
		if g.kind == hw.Die {
			if pkg, err := r.cpus(topology + "package_cpus_list"); err == nil && slices.Equal(pkg, set) {
				continue
			}
		}
		r.add(o)
	}
	r.caches(base + "/cache")
}

func (r *reader) caches(folder string) {
	indices, err := r.numbered(folder, "index")
	if err != nil {
		return
	}
	for _, i := range indices {
		base := fmt.Sprintf("%s/index%d/", folder, i)
		kind, ok := hw.Cache(r.number(base+"level", 0))
		if !ok {
			continue
		}
		set, err := r.cpus(base + "shared_cpu_list")
		if err != nil {
			if set, err = hw.ParseBitmap(r.text(base + "shared_cpu_map")); err != nil {
				continue
			}
		}
		if len(set) == 0 {
			continue
		}
		r.add(hw.Object{
			Kind: kind, OS: -1, CPUs: set, Size: parseSize(r.text(base + "size")),
			Line: max(r.number(base+"coherency_line_size", 0), 0), Ways: max(r.number(base+"ways_of_associativity", 0), 0),
			Instruction: r.text(base+"type") == "Instruction",
		})
	}
}

// parseSize reads "48K" or "32M"; the kernel writes sizes in KiB.
func parseSize(s string) uint64 {
	shift := 0
	switch {
	case strings.HasSuffix(s, "K"):
		shift = 10
	case strings.HasSuffix(s, "M"):
		shift = 20
	}
	n, err := strconv.ParseUint(strings.TrimRight(s, "KM"), 10, 40)
	if err != nil {
		return 0
	}
	return n << shift
}

var memTotal = regexp.MustCompile(`MemTotal:\s+(\d+) kB`)

// memory adds the memory nodes. A kernel without NUMA support has none to show:
// its memory is one node.
func (r *reader) memory() error {
	nodes, err := r.numbered(nodeRoot, "node")
	if err != nil || len(nodes) == 0 {
		all := hw.CPUs{}
		for _, o := range r.spec.Objects {
			if o.Kind == hw.CPU {
				all = append(all, o.OS)
			}
		}
		r.spec.Objects = append(r.spec.Objects, hw.Object{Kind: hw.NUMA, OS: 0, CPUs: hw.NewCPUs(all), Size: r.memorySize("proc/meminfo")})
		r.spec.Warnings = append(r.spec.Warnings, "the kernel shows no memory nodes; all memory is taken as one")
		return nil
	}
	if len(nodes) > hw.MaxNodes {
		return fmt.Errorf("%d memory nodes: more than any machine has", len(nodes))
	}
	for _, n := range nodes {
		base := fmt.Sprintf("%s/node%d", nodeRoot, n)
		set, err := r.cpus(base + "/cpulist")
		if err != nil {
			return fmt.Errorf("memory node %d: %w", n, err)
		}
		o := hw.Object{Kind: hw.NUMA, OS: n, CPUs: set, Size: r.memorySize(base + "/meminfo")}
		if len(set) == 0 && o.Size == 0 {
			continue // possible but not there
		}
		r.spec.Objects = append(r.spec.Objects, o)
		r.sideCaches(base+"/memory_side_cache", set)
	}
	r.distances(nodes)
	return nil
}

func (r *reader) memorySize(name string) uint64 {
	m := memTotal.FindStringSubmatch(r.text(name))
	if m == nil {
		return 0
	}
	n, err := strconv.ParseUint(m[1], 10, 50)
	if err != nil {
		return 0
	}
	return n << 10
}

func (r *reader) sideCaches(folder string, set hw.CPUs) {
	indices, err := r.numbered(folder, "index")
	if err != nil {
		return
	}
	for _, i := range indices {
		base := fmt.Sprintf("%s/index%d/", folder, i)
		size, _ := strconv.ParseUint(r.text(base+"size"), 10, 63)
		r.spec.Objects = append(r.spec.Objects, hw.Object{
			Kind: hw.SideCache, OS: -1, CPUs: set, Size: size, Line: max(r.number(base+"line_size", 0), 0),
		})
	}
}

// distances reads the firmware's table. A row lists the nodes that are online.
func (r *reader) distances(nodes hw.CPUs) {
	known := slices.DeleteFunc(slices.Clone(nodes), func(n int) bool {
		return !slices.ContainsFunc(r.spec.Objects, func(o hw.Object) bool { return o.Kind == hw.NUMA && o.OS == n })
	})
	d := &hw.Distances{Unit: "relative", Nodes: known}
	for _, n := range known {
		row := strings.Fields(r.text(fmt.Sprintf("%s/node%d/distance", nodeRoot, n)))
		if len(row) != len(nodes) {
			return
		}
		for i, text := range row {
			if !slices.Contains(known, nodes[i]) {
				continue
			}
			v, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				return
			}
			d.Values = append(d.Values, float64(v))
		}
	}
	r.spec.Distances = d
}

// classes reads the kinds of cores of a hybrid machine: on Intel the kernel
// lists them as two performance-counter devices, elsewhere cores differ in
// capacity.
func (r *reader) classes(online hw.CPUs) {
	for _, c := range []struct{ device, name string }{{"cpu_core", "IntelCore"}, {"cpu_atom", "IntelAtom"}, {"cpu_lowpower", "IntelLowPower"}} {
		if set, err := r.cpus("sys/devices/" + c.device + "/cpus"); err == nil && len(set) > 0 {
			r.spec.Classes = append(r.spec.Classes, hw.CPUClass{Name: c.name, CPUs: set, Efficiency: -1})
		}
	}
	if len(r.spec.Classes) > 0 {
		return
	}
	byCapacity := map[int]hw.CPUs{}
	for _, cpu := range online {
		if n := r.number(fmt.Sprintf("%s/cpu%d/cpu_capacity", cpuRoot, cpu), -1); n > 0 {
			byCapacity[n] = append(byCapacity[n], cpu)
		}
	}
	if len(byCapacity) < 2 || len(byCapacity) > 8 {
		return // all alike, or a number that means something else
	}
	for capacity, set := range byCapacity {
		r.spec.Classes = append(r.spec.Classes, hw.CPUClass{Name: fmt.Sprintf("capacity %d", capacity), CPUs: set, Efficiency: capacity})
	}
	slices.SortFunc(r.spec.Classes, func(a, b hw.CPUClass) int { return a.Efficiency - b.Efficiency })
}

var allowedList = regexp.MustCompile(`(?m)^Cpus_allowed_list:\s*(\S*)$`)

// blocked lists the CPUs this process may not run on.
func (r *reader) blocked(online hw.CPUs) {
	m := allowedList.FindStringSubmatch(r.text("proc/self/status"))
	if m == nil {
		return
	}
	allowed, err := hw.ParseCPUs(m[1])
	if err != nil || len(allowed) == 0 {
		return
	}
	for _, cpu := range online {
		if !allowed.Has(cpu) {
			r.spec.Blocked = append(r.spec.Blocked, cpu)
		}
	}
}

var modelName = regexp.MustCompile(`(?m)^(?:model name|cpu model|cpu|Processor)\s*:\s*(.+)$`)

func (r *reader) cpuModel() string {
	m := modelName.FindStringSubmatch(r.text("proc/cpuinfo"))
	if m == nil {
		return ""
	}
	return strings.Join(strings.Fields(m[1]), " ")
}
