package ability

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/isobath/isobath/internal/record/pmu"
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
		{"PEBS", machine(map[string]string{paranoid: "2\n", devices + "/cpu/events/mem-loads": "event=0xcd", devices + "/cpu/type": "4", devices + "/cpu/format/event": "config:0-7"}, false), Works, Works, ""},
		{"hybrid", machine(map[string]string{paranoid: "1\n", devices + "/cpu_core/events/mem-loads": "event=0xcd", devices + "/cpu_core/type": "4", devices + "/cpu_core/format/event": "config:0-7"}, false), Works, Works, ""},
		{"IBS needs 1", machine(map[string]string{paranoid: "2\n", devices + "/ibs_op/type": "9"}, false), Limited, Works, "paranoid=1"},
		{"IBS as root", machine(map[string]string{paranoid: "4\n", devices + "/ibs_op/type": "9", devices + "/ibs_op/format/cnt_ctl": "config:19"}, true), Works, Works, ""},
		{"IBS with a filter", machine(map[string]string{paranoid: "2\n", devices + "/ibs_op/type": "9", devices + "/ibs_op/format/cnt_ctl": "config:19", devices + "/ibs_op/format/swfilt": "config2:0"}, false), Works, Works, ""},
		{"IBS on an old kernel", machine(map[string]string{paranoid: "1\n", "proc/sys/kernel/osrelease": "5.10.0-8-amd64\n", devices + "/ibs_op/type": "9"}, false), Limited, Works, "6.2"},
		{"SPE", machine(map[string]string{paranoid: "-1\n", devices + "/arm_spe_0/type": "9", devices + "/arm_spe_0/format/ts_enable": "config:0", devices + "/arm_spe_0/format/jitter": "config:16",
			devices + "/arm_spe_0/format/load_filter": "config:33", devices + "/arm_spe_0/format/store_filter": "config:34"}, false), Works, Works, ""},
		{"a unit that sysfs does not describe", machine(map[string]string{paranoid: "2\n", devices + "/cpu/events/mem-loads": "event=0xcd", devices + "/cpu/type": "4"}, false), Limited, Works, ""},
		{"capability", machine(map[string]string{paranoid: "4\n", "proc/self/status": "CapEff:\t0000004000000000\n"}, false), Missing, Works, ""},
		{"root without capabilities", machine(map[string]string{paranoid: "4\n", "proc/self/status": "CapEff:\t0000000000000000\n"}, true), Missing, Missing, "paranoid=2"},
		{"old kernel", machine(map[string]string{paranoid: "1\n", "proc/sys/kernel/osrelease": "3.10.0\n"}, false), Missing, Missing, "4.1"},
		{"locked down", machine(map[string]string{paranoid: "4\n"}, false), Missing, Missing, "paranoid=2"},
		{"no perf", machine(nil, false), Missing, Missing, ""},
		{"container", machine(map[string]string{paranoid: "2\n", "proc/self/status": "Name:\tx\nSeccomp:\t2\n"}, false), Missing, Works, "seccomp"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := Report(tt.m)
			if all[1].State != tt.counters || all[2].State != tt.timer {
				t.Errorf("counters %s, timer %s; want %s, %s", all[1].State, all[2].State, tt.counters, tt.timer)
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

// A trial that fails decides, whatever the files say.
func TestTrial(t *testing.T) {
	m := machine(map[string]string{paranoid: "1\n", "proc/self/status": "Seccomp:\t2\n"}, true)
	m.Try = func(pmu.Plan) error { return errors.New("function not implemented") }
	all := Report(m)
	if all[0].State != Missing || all[2].State != Missing || !strings.Contains(all[2].What, "not implemented") || !strings.Contains(all[2].Cure, "seccomp") {
		t.Errorf("%+v", all[:3])
	}
	m.Try = func(pmu.Plan) error { return nil }
	if all := Report(m); all[0].State != Limited || !strings.Contains(all[0].What, "timer") || all[0].Cure == "" {
		t.Errorf("%+v", all[0])
	}
}

// What lies beyond a user's own programs needs more rights than these do.
func TestBeyond(t *testing.T) {
	for _, tt := range []struct {
		m              Machine
		kernel, others State
	}{
		{machine(map[string]string{paranoid: "2\n"}, false), Missing, Missing},
		{machine(map[string]string{paranoid: "1\n"}, false), Works, Missing},
		{machine(map[string]string{paranoid: "0\n"}, false), Works, Works},
		{machine(map[string]string{paranoid: "4\n", "proc/self/status": "CapEff:\t0000004000000000\n"}, false), Works, Works},
	} {
		got := tt.m.beyond()
		if got[0].State != tt.kernel || got[1].State != tt.others || (got[1].State == Missing) != strings.Contains(got[1].Cure, "paranoid=0") {
			t.Errorf("%+v, want %s and %s", got, tt.kernel, tt.others)
		}
	}
}
