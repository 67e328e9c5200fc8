package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/memory/allocated"
)

// Two places allocate as much as each other, and the samples say which of the two
// is used.
func TestRecordAllocations(t *testing.T) {
	r := newRecorder(t)
	program := filepath.Join(r.dir, "allocates")
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-O1", "-g", "-o", program, "testdata/record/allocates.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, samples := r.record("--rate", "2000", "--", program)
	out, err := r.command("report", "out.isobath", "--allocations", "--json").Output()
	var got allocated.Allocations
	if err != nil || json.Unmarshal(out, &got) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	places := map[string]allocated.AllocationSite{}
	for _, s := range got.Sites {
		if len(s.Frames) > 1 && s.Frames[0].Function == "grab" {
			places[s.Frames[1].Function] = s
		}
	}
	cold, hot, rows := places["cold"], places["hot"], places["main"]
	const n = 4 << 20
	if cold.Bytes != n || hot.Bytes != n || cold.Calls != 1 || cold.Lifetime != nil || cold.AtEnd != n || hot.Peak != n {
		t.Errorf("cold %+v\nhot %+v", cold, hot)
	}
	if rows.Calls != 200 || rows.Bytes != 200*9000 || rows.Peak != 9000 || rows.Freed != 200 || rows.Lifetime == nil {
		t.Errorf("rows %+v", rows)
	}
	if got.Samples != int64(samples.Rows()) || hot.Share < 0.7 || hot.Reads < hot.Samples/2 || hot.Cost == 0 || cold.Share > 0.02 {
		t.Errorf("of %d samples: cold %+v\nhot %+v", got.Samples, cold, hot)
	}
	text, err := r.command("report", "out.isobath", "--allocations", "--top", "1").Output()
	if err != nil || !strings.Contains(string(text), "9.72 MiB in 202 calls by") || !strings.Contains(string(text), "to the end") || !strings.Contains(string(text), "more place") {
		t.Errorf("%v\n%s", err, text)
	}
}
