// Package ability finds out what this machine lets a user record, and what to
// change for more. It only looks; nothing is recorded or changed.
package ability

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/record/pmu"
)

// State says how well something works.
type State string

// The states.
const (
	Works   State = "works"
	Limited State = "limited"
	Missing State = "missing"
)

// Finding is one line of the report.
type Finding struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	What  string `json:"what"`           // what was found
	Cure  string `json:"cure,omitempty"` // the command that gives more
}

// Machine is what the checks look at, so that tests can show them another one.
type Machine struct {
	Files fs.FS                                // the root of the file system
	Find  func(program string) (string, error) // exec.LookPath
	Root  bool                                 // whether the user is root
	Arch  string                               // GOARCH
	// Try opens the events of a plan and closes them again; nil if that cannot
	// be tried.
	Try func(pmu.Plan) error
}

// Report looks at everything. The first finding says what `isobath record`
// would do, the second and third why.
func Report(m Machine) []Finding {
	counters, timer := m.counters(), m.timer()
	findings := []Finding{rung(counters, timer), counters, timer, m.container()}
	if timer.State == Works {
		findings = append(findings, m.beyond()...)
	}
	return append(findings, m.programs()...)
}

// rung says which step of the ladder a recording takes.
func rung(counters, timer Finding) Finding {
	f := Finding{Name: "isobath record", State: Works}
	switch {
	case counters.State == Works:
		f.What = "samples by hardware: addresses, levels and latencies are measured"
	case timer.State == Works:
		f.State, f.What = Limited, "samples by a timer: exact addresses, no levels and no latencies, because of the next line"
		f.Cure = counters.Cure
	default:
		f.State, f.What = Missing, "cannot sample; other ways: 'isobath record --refs', or import what another tool recorded"
		f.Cure = timer.Cure
	}
	return f
}

func (m Machine) read(name string) (string, bool) {
	body, err := fs.ReadFile(m.Files, name)
	return strings.TrimSpace(string(body)), err == nil
}

const devices = pmu.Devices

// Numbers of the capabilities that lift the limit of perf_event_paranoid.
const (
	capSysAdmin = 21
	capPerfmon  = 38
)

// capable reports whether perf_event_paranoid does not bind the user.
func (m Machine) capable() bool {
	status, ok := m.read("proc/self/status")
	if !ok {
		return m.Root
	}
	for line := range strings.Lines(status) {
		if v, found := strings.CutPrefix(line, "CapEff:"); found {
			set, err := strconv.ParseUint(strings.TrimSpace(v), 16, 64)
			return err == nil && set&(1<<capSysAdmin|1<<capPerfmon) != 0
		}
	}
	return m.Root
}

// kernel returns the release as two numbers.
func (m Machine) kernel() (major, minor int) {
	text, _ := m.read("proc/sys/kernel/osrelease")
	_, _ = fmt.Sscanf(text, "%d.%d", &major, &minor)
	return major, minor
}

// before reports whether the kernel is known to be older than a release.
func (m Machine) before(major, minor int) bool {
	a, b := m.kernel()
	return a != 0 && (a < major || a == major && b < minor)
}

// try opens a plan for real.
func (m Machine) try(plans ...pmu.Plan) error {
	if m.Try == nil {
		return nil
	}
	var errs []error
	for _, p := range plans {
		err := m.Try(p)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// memoryPMU returns the unit that samples memory accesses in hardware.
func (m Machine) memoryPMU() string {
	entries, err := fs.ReadDir(m.Files, devices)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == "ibs_op":
			return "AMD IBS (ibs_op)"
		case strings.HasPrefix(name, "arm_spe_"):
			return "ARM SPE (" + name + ")"
		}
		if _, ok := m.read(path.Join(devices, name, "events/mem-loads")); ok {
			return "Intel PEBS (" + name + "/mem-loads)"
		}
	}
	return ""
}

// paranoid returns the level of kernel.perf_event_paranoid, and false on a
// kernel without perf events.
func (m Machine) paranoid() (int, bool) {
	text, ok := m.read("proc/sys/kernel/perf_event_paranoid")
	n, err := strconv.Atoi(text)
	return n, ok && err == nil
}

// counters is the first rung: sampling by the hardware itself.
func (m Machine) counters() Finding {
	f := Finding{Name: "hardware memory sampling"}
	unit := m.memoryPMU()
	level, ok := m.paranoid()
	switch {
	case !ok:
		f.State, f.What = Missing, "this kernel has no perf events"
		return f
	case unit == "":
		f.State, f.What = Missing, "no PEBS, IBS or SPE unit is visible; this is usual in virtual machines"
		f.Cure = "run on bare metal, or ask for a machine type with a virtual PMU"
		return f
	}
	need := 2
	if strings.HasPrefix(unit, "AMD") && !m.filters() {
		need = 1
	}
	switch {
	case strings.HasPrefix(unit, "AMD") && m.before(6, 2):
		f.State = Limited
		f.What = unit + " is there, but this kernel can use it for the whole machine only; one program needs Linux 6.2"
		f.Cure = "boot Linux 6.2 or newer"
		return f
	case level > need && !m.capable():
		f.State = Limited
		f.What = fmt.Sprintf("%s is there, but kernel.perf_event_paranoid is %d and must be at most %d", unit, level, need)
		f.Cure = fmt.Sprintf("sudo sysctl kernel.perf_event_paranoid=%d", need)
		return f
	}
	plans, err := pmu.Hardware(m.Files, &pmu.Options{Arch: m.Arch})
	if err == nil {
		err = m.try(plans...)
	}
	if err != nil {
		f.State, f.What = Limited, unit+" is there, but "+err.Error()
		return f
	}
	f.State, f.What = Works, unit
	return f
}

// filters reports whether IBS can leave out the kernel, which users may not
// sample at the usual level.
func (m Machine) filters() bool {
	_, ok := m.read(path.Join(devices, "ibs_op/format/swfilt"))
	return ok
}

// timer is the second rung, which needs no hardware counters.
func (m Machine) timer() Finding {
	f := Finding{Name: "timer sampling with exact addresses"}
	level, ok := m.paranoid()
	switch {
	case !ok:
		f.State, f.What = Missing, "this kernel has no perf events"
		f.Cure = "boot a kernel with CONFIG_PERF_EVENTS"
		return f
	case m.before(4, 1):
		f.State, f.What, f.Cure = Missing, "this kernel cannot use a common clock", "boot Linux 4.1 or newer"
		return f
	case level > 2 && !m.capable():
		f.State, f.What = Missing, fmt.Sprintf("kernel.perf_event_paranoid is %d and must be at most 2", level)
		f.Cure = "sudo sysctl kernel.perf_event_paranoid=2"
		return f
	case m.Arch != "" && m.Arch != "amd64" && m.Arch != "arm64":
		f.State, f.What = Limited, "instructions of "+m.Arch+" are not decoded: samples have no address"
		return f
	}
	if err := m.try(pmu.TimerPlan(&pmu.Options{Arch: m.Arch})); err != nil {
		f.State, f.What = Missing, err.Error()
		if m.filtered() {
			f.Cure = seccompCure
		}
		return f
	}
	f.State, f.What = Works, fmt.Sprintf("kernel.perf_event_paranoid is %d; addresses are exact, levels and latencies absent; --model estimates levels", level)
	return f
}

// beyond says what may be sampled beside a program of the user's own.
func (m Machine) beyond() []Finding {
	level, _ := m.paranoid()
	var out []Finding
	for _, b := range []struct {
		name, what string
		need       int
	}{{"record --kernel", "time in the kernel is sampled", 1}, {"record --all, --cgroup", "processes of others are sampled", 0}} {
		f := Finding{Name: b.name, State: Works, What: b.what}
		if level > b.need && !m.capable() {
			f.State, f.What = Missing, fmt.Sprintf("kernel.perf_event_paranoid is %d and must be at most %d, or isobath needs the capability CAP_PERFMON", level, b.need)
			f.Cure = fmt.Sprintf("sudo sysctl kernel.perf_event_paranoid=%d", b.need)
		}
		out = append(out, f)
	}
	return out
}

const seccompCure = "start the container with --security-opt seccomp=unconfined, or --cap-add PERFMON"

// filtered reports whether a filter stands in front of system calls.
func (m Machine) filtered() bool {
	status, _ := m.read("proc/self/status")
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, "Seccomp:"); ok {
			return strings.TrimSpace(v) != "0"
		}
	}
	return false
}

// container warns of the filter that container engines put in front of perf.
func (m Machine) container() Finding {
	f := Finding{Name: "system calls", State: Works, What: "no filter"}
	if m.filtered() {
		f.State, f.What = Limited, "a seccomp filter is active, as containers have; it may forbid perf_event_open"
		f.Cure = seccompCure
	}
	return f
}

// programs are what other ways of recording need.
func (m Machine) programs() []Finding {
	var out []Finding
	for _, p := range []struct{ program, use, pkg string }{
		{"cc", "allocation log and compiled recorders", "gcc"},
		{"mpicc", "message traces of MPI programs", "libopenmpi-dev openmpi-bin"},
		{"qemu-x86_64", "long reference traces", "qemu-user"},
		{"valgrind", "reference traces by lackey", "valgrind"},
	} {
		f := Finding{Name: p.program, State: Works}
		file, err := m.Find(p.program)
		if err != nil {
			f.State, f.What, f.Cure = Missing, "not installed; wanted for "+p.use, "apt-get install "+p.pkg
		} else {
			f.What = file + ", for " + p.use
		}
		out = append(out, f)
	}
	return out
}
