// Package ability finds out what this machine lets a user record, and what to
// change for more. It only looks; nothing is recorded or changed.
package ability

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
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
}

// Report looks at everything.
func Report(m Machine) []Finding {
	findings := []Finding{m.counters(), m.timer(), m.container()}
	return append(findings, m.programs()...)
}

func (m Machine) read(name string) (string, bool) {
	body, err := fs.ReadFile(m.Files, name)
	return strings.TrimSpace(string(body)), err == nil
}

const devices = "sys/bus/event_source/devices"

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
	if strings.HasPrefix(unit, "AMD") {
		need = 1
	}
	if level > need && !m.Root {
		f.State = Limited
		f.What = fmt.Sprintf("%s is there, but kernel.perf_event_paranoid is %d and must be at most %d", unit, level, need)
		f.Cure = fmt.Sprintf("sudo sysctl kernel.perf_event_paranoid=%d", need)
		return f
	}
	f.State, f.What = Works, unit
	return f
}

// timer is the second rung, which needs no hardware counters.
func (m Machine) timer() Finding {
	f := Finding{Name: "timer sampling with exact addresses"}
	level, ok := m.paranoid()
	switch {
	case !ok:
		f.State, f.What = Missing, "this kernel has no perf events"
	case level > 2 && !m.Root:
		f.State, f.What = Missing, fmt.Sprintf("kernel.perf_event_paranoid is %d and must be at most 2", level)
		f.Cure = "sudo sysctl kernel.perf_event_paranoid=2"
	default:
		f.State, f.What = Works, fmt.Sprintf("kernel.perf_event_paranoid is %d; addresses are exact, levels and latencies absent", level)
	}
	return f
}

// container warns of the filter that container engines put in front of perf.
func (m Machine) container() Finding {
	f := Finding{Name: "system calls", State: Works, What: "no filter"}
	status, _ := m.read("proc/self/status")
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, "Seccomp:"); ok && strings.TrimSpace(v) != "0" {
			f.State, f.What = Limited, "a seccomp filter is active, as containers have; it may forbid perf_event_open"
			f.Cure = "start the container with --security-opt seccomp=unconfined, or --cap-add PERFMON"
		}
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
