package ability

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func machine(files map[string]string, root bool, programs ...string) Machine {
	f := fstest.MapFS{}
	for name, body := range files {
		f[name] = &fstest.MapFile{Data: []byte(body)}
	}
	return Machine{Files: f, Root: root, Find: func(p string) (string, error) {
		for _, have := range programs {
			if have == p {
				return "/usr/bin/" + p, nil
			}
		}
		return "", errors.New("not found")
	}}
}

const paranoid = "proc/sys/kernel/perf_event_paranoid"

func TestReport(t *testing.T) {
	tests := []struct {
		name     string
		m        Machine
		counters State
		timer    State
		cure     string // in any finding
	}{
		{"virtual machine", machine(map[string]string{paranoid: "2\n", devices + "/software/type": "1"}, false), Missing, Works, "bare metal"},
		{"PEBS", machine(map[string]string{paranoid: "2\n", devices + "/cpu/events/mem-loads": "event=0xcd"}, false), Works, Works, ""},
		{"hybrid", machine(map[string]string{paranoid: "1\n", devices + "/cpu_core/events/mem-loads": "event=0xcd"}, false), Works, Works, ""},
		{"IBS needs 1", machine(map[string]string{paranoid: "2\n", devices + "/ibs_op/type": "9"}, false), Limited, Works, "paranoid=1"},
		{"IBS as root", machine(map[string]string{paranoid: "4\n", devices + "/ibs_op/type": "9"}, true), Works, Works, ""},
		{"SPE", machine(map[string]string{paranoid: "-1\n", devices + "/arm_spe_0/type": "9"}, false), Works, Works, ""},
		{"locked down", machine(map[string]string{paranoid: "4\n"}, false), Missing, Missing, "paranoid=2"},
		{"no perf", machine(nil, false), Missing, Missing, ""},
		{"container", machine(map[string]string{paranoid: "2\n", "proc/self/status": "Name:\tx\nSeccomp:\t2\n"}, false), Missing, Works, "seccomp"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := Report(tt.m)
			if all[0].State != tt.counters || all[1].State != tt.timer {
				t.Errorf("counters %s, timer %s; want %s, %s", all[0].State, all[1].State, tt.counters, tt.timer)
			}
			cures := ""
			for _, f := range all {
				cures += f.Cure + "\n"
			}
			if !strings.Contains(cures, tt.cure) {
				t.Errorf("cures %q do not say %q", cures, tt.cure)
			}
		})
	}
}

func TestPrograms(t *testing.T) {
	all := Report(machine(nil, false, "cc"))
	last := all[len(all)-4:]
	if last[0].State != Works || last[1].State != Missing || !strings.Contains(last[1].Cure, "apt-get") {
		t.Errorf("programs: %+v", last)
	}
}
