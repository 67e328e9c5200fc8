package pmu

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/machine/hw"
)

// ErrNoUnit is returned where no unit samples memory accesses.
var ErrNoUnit = errors.New("no PEBS, IBS or SPE unit is visible, as usual in virtual machines")

// Devices is where the kernel describes measuring units, below the root folder.
const Devices = "sys/bus/event_source/devices"

// Hardware returns the plans that a machine can try, best first, from the sysfs
// below its root folder.
func Hardware(root fs.FS, o *Options) ([]Plan, error) {
	entries, err := fs.ReadDir(root, Devices)
	if err != nil {
		return nil, ErrNoUnit
	}
	var plans []Plan
	var errs []error
	keep := func(p []Plan, err error) {
		plans = append(plans, p...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	keep(intel(root, o))
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "ibs_op":
			keep(ibs(root, o))
		case strings.HasPrefix(name, "arm_spe_"):
			keep(spe(root, name, o))
		}
	}
	if len(plans) == 0 {
		return nil, errors.Join(append(errs, ErrNoUnit)...)
	}
	return plans, errors.Join(errs...)
}

// unit is one measuring unit as sysfs describes it.
type unit struct {
	root fs.FS
	name string
	kind uint32
	cpus []int
}

func openUnit(root fs.FS, name string) (*unit, error) {
	u := &unit{root: root, name: name}
	text, ok := u.read("type")
	n, err := strconv.ParseUint(text, 10, 32)
	if !ok || err != nil {
		return nil, fmt.Errorf("%s: sysfs gives no type of the unit", name)
	}
	u.kind = uint32(n)
	// Hybrid machines say which CPUs have the unit, one way or the other.
	for _, file := range []string{"cpus", "cpumask"} {
		if list, ok := u.read(file); ok {
			if u.cpus, err = hw.ParseCPUs(list); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			break
		}
	}
	return u, nil
}

func (u *unit) read(file string) (string, bool) {
	b, err := fs.ReadFile(u.root, path.Join(Devices, u.name, file))
	return strings.TrimSpace(string(b)), err == nil
}

// set puts a value where the format file of a term says: "config:0-7,21".
func (u *unit) set(a *perfevent.Attr, term string, value uint64) error {
	format, ok := u.read("format/" + term)
	if !ok {
		return fmt.Errorf("%s: sysfs does not say where %s goes", u.name, term)
	}
	word, places, ok := strings.Cut(format, ":")
	fields := map[string]*uint64{"config": &a.Config, "config1": &a.Config1, "config2": &a.Config2, "config3": &a.Config3}
	field := fields[word]
	if !ok || field == nil {
		return fmt.Errorf("%s: format of %s is %q", u.name, term, format)
	}
	for part := range strings.SplitSeq(places, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		low, err1 := strconv.ParseUint(from, 10, 6)
		high, err2 := strconv.ParseUint(to, 10, 6)
		if err1 != nil || err2 != nil || high < low {
			return fmt.Errorf("%s: format of %s is %q", u.name, term, format)
		}
		width := high - low + 1
		mask := ^uint64(0) >> (64 - width)
		*field |= value & mask << low
		value >>= width % 64
	}
	if value != 0 {
		return fmt.Errorf("%s: the value of %s is too large for %q", u.name, term, format)
	}
	return nil
}

// event fills in an event of sysfs: "event=0xcd,umask=0x1,ldlat=3". Terms in
// instead take the place of the file's.
func (u *unit) event(a *perfevent.Attr, name string, instead map[string]uint64) error {
	text, ok := u.read("events/" + name)
	if !ok {
		return fmt.Errorf("%s has no event %s", u.name, name)
	}
	a.Type = u.kind
	for term := range strings.SplitSeq(text, ",") {
		key, number, hasValue := strings.Cut(strings.TrimSpace(term), "=")
		value := uint64(1)
		if hasValue {
			var err error
			if value, err = strconv.ParseUint(number, 0, 64); err != nil {
				return fmt.Errorf("%s: event %s is %q", u.name, name, text)
			}
		}
		if v, ok := instead[key]; ok {
			value = v
		}
		if err := u.set(a, key, value); err != nil {
			return err
		}
	}
	return nil
}

func (u *unit) has(file string) bool {
	_, ok := u.read(file)
	return ok
}

// pace sets the period, or the frequency.
func (o *Options) pace(a *perfevent.Attr) {
	if o.Period != 0 {
		a.Period = o.Period
		return
	}
	a.Period = uint64(o.rate())
	a.Flags |= perfevent.FlagFreq
}

// defaultLatency is the threshold of load sampling where a user gives none, the
// smallest that Intel's units know: every load counts.
const defaultLatency = 3

// intel plans load and store sampling by PEBS: on hybrid machines by one unit
// for each kind of core. A second plan does without the newer form of the
// latency, for kernels before 5.12.
func intel(root fs.FS, o *Options) ([]Plan, error) {
	var units []*unit
	for _, name := range []string{"cpu", "cpu_core", "cpu_atom"} {
		if u, err := openUnit(root, name); err == nil && u.has("events/mem-loads") {
			units = append(units, u)
		}
	}
	if len(units) == 0 {
		return nil, nil
	}
	var plans []Plan
	for _, weight := range []uint64{perfevent.SampleWeightStruct, perfevent.SampleWeight} {
		p := Plan{Name: "PEBS", What: "PEBS: sampled loads and stores with latency and level"}
		for _, u := range units {
			if err := u.pebs(&p, o, weight); err != nil {
				return plans, err
			}
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// pebs adds the events of one unit.
func (u *unit) pebs(p *Plan, o *Options, weight uint64) error {
	sampling := func() perfevent.Attr {
		a := common(o)
		a.SampleType |= perfevent.SampleAddr | perfevent.SamplePeriod | perfevent.SampleDataSrc | weight
		a.Flags |= 2 << perfevent.PreciseShift
		o.pace(&a)
		return a
	}
	leader := -1
	if u.has("events/mem-loads-aux") {
		a := common(o)
		if err := u.event(&a, "mem-loads-aux", nil); err != nil {
			return err
		}
		leader = len(p.Events)
		p.Events = append(p.Events, Event{Name: u.name + "/mem-loads-aux", Use: Silent, Attr: a, Leader: -1, CPUs: u.cpus})
	}
	threshold := uint64(defaultLatency)
	if o.Latency > defaultLatency {
		threshold = uint64(o.Latency)
	}
	loads := sampling()
	tracking(&loads)
	if err := u.event(&loads, "mem-loads", map[string]uint64{"ldlat": threshold}); err != nil {
		return err
	}
	p.Events = append(p.Events, Event{Name: u.name + "/mem-loads", Use: Access, Attr: loads, Leader: leader, CPUs: u.cpus})
	if !u.has("events/mem-stores") {
		return nil
	}
	stores := sampling()
	if err := u.event(&stores, "mem-stores", nil); err != nil {
		return err
	}
	p.Events = append(p.Events, Event{Name: u.name + "/mem-stores", Use: Access, Attr: stores, Leader: -1, CPUs: u.cpus})
	return nil
}

// ibs plans sampling of micro-operations by AMD's units. They count in sixteens
// and do not know user space from the kernel, unless the kernel filters
// (swfilt): samples of the kernel are then taken too, which needs a
// perf_event_paranoid of 1, and left out later.
func ibs(root fs.FS, o *Options) ([]Plan, error) {
	u, err := openUnit(root, "ibs_op")
	if err != nil {
		return nil, err
	}
	a := common(o)
	tracking(&a)
	a.Type = u.kind
	a.SampleType |= perfevent.SampleAddr | perfevent.SamplePeriod | perfevent.SampleDataSrc | perfevent.SampleWeightStruct
	o.pace(&a)
	if o.Period != 0 {
		a.Period = max(16, o.Period&^15)
	}
	if err := u.set(&a, "cnt_ctl", 1); err != nil {
		return nil, err
	}
	if u.has("format/swfilt") {
		if err := u.set(&a, "swfilt", 1); err != nil {
			return nil, err
		}
	} else {
		a.Flags &^= perfevent.FlagExcludeKernel
	}
	a.Flags &^= perfevent.FlagExcludeHV
	what := "IBS: sampled operations with latency and level"
	if o.Latency >= 128 && u.has("format/ldlat") { // the unit's smallest
		what = "IBS: sampled loads that missed L3 and took long, with latency and level" // it does both or neither
		if err := u.set(&a, "ldlat", uint64(min(o.Latency, 2048))); err != nil {
			return nil, err
		}
	}
	return []Plan{{Name: "IBS", What: what,
		Events: []Event{{Name: "ibs_op", Use: Access, Attr: a, Leader: -1}}}}, nil
}

// speMaxInterval is the most that PMSIRR_EL1.INTERVAL holds.
const speMaxInterval = 0xffffff00

// spe plans sampling by ARM's Statistical Profiling Extension, which writes
// packets into an area of its own.
func spe(root fs.FS, name string, o *Options) ([]Plan, error) {
	u, err := openUnit(root, name)
	if err != nil {
		return nil, err
	}
	a := common(o)
	tracking(&a)
	a.Type = u.kind
	for _, term := range []string{"ts_enable", "load_filter", "store_filter", "jitter"} {
		if err := u.set(&a, term, 1); err != nil {
			return nil, err
		}
	}
	if o.Latency > 0 {
		if err := u.set(&a, "min_latency", uint64(o.Latency)); err != nil {
			return nil, err
		}
	}
	least := uint64(0)
	if text, ok := u.read("caps/min_interval"); ok {
		least, _ = strconv.ParseUint(text, 0, 64)
	}
	// The unit counts operations: at some 2·10⁹ a second this is the rate. It
	// counts in 256s, and the kernel drops what is below.
	a.Period = o.Period
	if a.Period == 0 {
		a.Period = 2e9 / uint64(o.rate())
	}
	a.Period = max(min(a.Period, speMaxInterval)&^0xff, least, 256)
	return []Plan{{Name: "SPE", What: "SPE: sampled operations with latency and level",
		Events: []Event{{Name: name, Use: Access, Attr: a, Leader: -1, CPUs: u.cpus, Aux: true}}}}, nil
}
