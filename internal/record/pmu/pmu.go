// Package pmu decides which events to open for sampling memory accesses. What
// a processor can do, and the numbers of its events, come from sysfs only:
// they differ between generations, and types even between boots.
package pmu

import (
	"github.com/isobath/isobath/internal/code/perfevent"
)

// Options are what a user may say about sampling.
type Options struct {
	Rate    int    // samples a second and CPU, where Period is 0
	Period  uint64 // events a sample
	Latency int    // loads of fewer cycles are not sampled; hardware only
	// Threads follows threads but not child processes.
	Threads bool
	Arch    string // GOARCH of the machine
	// Stacks copies the top of the stack with every sample, for its callers.
	Stacks bool
	// Kernel samples time in the kernel too, with the kernel's own calls; timer only.
	Kernel bool
}

// defaultRate costs about what a timer interrupt does, a thousand times a second:
// well under one percent of the time, or one where a virtual machine takes 10 µs.
const defaultRate = 1000

// Use says what an event's samples are.
type Use uint8

// The uses.
const (
	Access Use = iota // hardware says the address
	Timer             // the address is worked out from the registers
	Touch             // page faults: the first touch of a page
	Silent            // opened because another event needs it
)

// Event is one event to be opened on each of its CPUs.
type Event struct {
	Name string
	Use  Use
	Attr perfevent.Attr
	// Leader is the index of the event that leads its group, -1 if none.
	Leader int
	// CPUs are where it can be opened; nil means everywhere.
	CPUs []int
	// Aux is set for units that write an area of their own (SPE).
	Aux bool
}

// Plan is one way of sampling.
type Plan struct {
	Name   string // "PEBS", "IBS", "SPE" or "timer"
	What   string // what is sampled, in words
	Events []Event
}

// Hardware reports whether a measuring unit supplies the addresses.
func (p *Plan) Hardware() bool { return p.Name != "timer" }

// Registers that a timer sample needs to work out operands: bits of
// enum perf_event_x86_regs and perf_event_arm_regs.
const (
	// x86Regs is all general registers, the stack pointer, ip and flags.
	x86Regs = 0xff03ff
	// armRegs is x0 to x30, sp and pc.
	armRegs = 1<<33 - 1
)

// clockMonotonic is CLOCK_MONOTONIC, the clock of allocation logs too.
const clockMonotonic = 1

// common fills in what every event has. Only user space is sampled: that is
// allowed to everybody at the usual perf_event_paranoid of 2.
func common(o *Options) perfevent.Attr {
	a := perfevent.Attr{
		SampleType: perfevent.SampleIdentifier | perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime | perfevent.SampleCPU,
		Flags:      perfevent.FlagDisabled | perfevent.FlagInherit | perfevent.FlagExcludeKernel | perfevent.FlagExcludeHV | perfevent.FlagSampleIDAll | perfevent.FlagUseClockID,
		ClockID:    clockMonotonic,
	}
	if o.Threads {
		a.Flags |= perfevent.FlagInheritThread
	}
	return a
}

// tracking adds the records that say what is mapped where, in one event only.
func tracking(a *perfevent.Attr) {
	a.Flags |= perfevent.FlagMmap | perfevent.FlagMmap2 | perfevent.FlagMmapData | perfevent.FlagComm | perfevent.FlagCommExec | perfevent.FlagTask
}

// TimerPlan samples by the clock of the running program.
func TimerPlan(o *Options) Plan {
	a := common(o)
	tracking(&a)
	a.Type, a.Config = perfevent.TypeSoftware, perfevent.SoftwareCPUClock
	a.SampleType |= perfevent.SampleRegsUser
	a.SampleRegsUser = x86Regs
	if o.Arch == "arm64" {
		a.SampleRegsUser = armRegs
	}
	// A period in place of a frequency: for this event both are a timer, and
	// only the frequency is limited by kernel.perf_event_max_sample_rate.
	a.Period = o.Period
	if a.Period == 0 {
		a.Period = 1e9 / uint64(o.rate())
	}
	if o.Stacks {
		a.SampleType |= perfevent.SampleStackUser
		a.SampleStackUser = stackBytes(a.Period)
	}
	what := "timer samples with addresses worked out from registers"
	if o.Kernel {
		what += ", and of the kernel"
		a.Flags = a.Flags&^perfevent.FlagExcludeKernel | perfevent.FlagExcludeCallchainUser
		a.SampleType |= perfevent.SampleCallchain
	}
	return Plan{Name: "timer", What: what,
		Events: []Event{{Name: "cpu-clock", Use: Timer, Attr: a, Leader: -1}}}
}

// stackBytes is how much of a stack is copied: 8 KB a thousand times a second, as
// perf does, and less the more often, so that buffers hold as long. The period is
// in nanoseconds.
func stackBytes(period uint64) uint32 {
	const most, least, unit = 8192, 1024, 512
	return uint32(min(max(period*most/1e6, least), most) / unit * unit)
}

func (o *Options) rate() int {
	if o.Rate > 0 {
		return o.Rate
	}
	return defaultRate
}

// Touches is the event of page faults, which accompanies every plan.
func Touches(o *Options) Event {
	a := common(o)
	a.Type, a.Config, a.Period = perfevent.TypeSoftware, perfevent.SoftwarePageFaults, 1
	a.SampleType |= perfevent.SampleAddr
	return Event{Name: "page-faults", Use: Touch, Attr: a, Leader: -1}
}

// Tracking is an event that takes no samples and tells of mappings and
// processes: for the CPUs where nothing is sampled.
func Tracking(o *Options) Event {
	a := common(o)
	tracking(&a)
	a.Type, a.Config = perfevent.TypeSoftware, perfevent.SoftwareDummy
	return Event{Name: "dummy", Use: Silent, Attr: a, Leader: -1}
}
