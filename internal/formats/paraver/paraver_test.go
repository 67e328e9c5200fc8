package paraver

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// small has what the grammar of the manual has: two nodes, two communicators, a
// blocking and a non-blocking message, a collective with a root, a function, a
// state and an event of another type.
const small = `#Paraver (16/11/2026 at 10:00):900_ns:2(1,1):1:2(1:1,1:2),2
c:1:1:2:1:2
c:1:2:1:2
1:1:1:1:1:0:900:1
2:1:1:1:1:0:60000019:1
2:1:1:1:1:100:50000001:1
3:1:1:1:1:100:100:2:1:2:1:50:160:8:7
2:1:1:1:1:150:50000001:0
2:1:1:1:1:200:50000001:3:42000050:12345
3:1:1:1:1:200:210:2:1:2:1:300:420:16:9
2:1:1:1:1:220:50000001:0
2:1:1:1:1:500:50000002:7:50100004:1:50100003:1
2:1:1:1:1:600:50000002:0
2:1:1:1:1:900:60000019:0
2:2:1:2:1:50:50000001:2
2:2:1:2:1:160:50000001:0
2:2:1:2:1:300:50000001:4
2:2:1:2:1:310:50000001:0
2:2:1:2:1:400:50000001:5
2:2:1:2:1:420:50000001:0
2:2:1:2:1:500:50000002:7:50100004:1
2:2:1:2:1:610:50000002:0
`

func write(t *testing.T, prv, pcf string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.prv")
	if err := os.WriteFile(path, []byte(prv), 0o666); err != nil {
		t.Fatal(err)
	}
	if pcf != "" {
		if err := os.WriteFile(strings.TrimSuffix(path, ".prv")+".pcf", []byte(pcf), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestRead(t *testing.T) {
	pcf := "EVENT_TYPE\n0   60000019    User function\nVALUES\n0   End\n1   solve<int, 3>\n\n"
	a, err := open(write(t, small, pcf))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range a.Defs.Locations {
		r, err := a.Events(l.ID)
		if err != nil {
			t.Fatal(err)
		}
		var ev otf2.Event
		for r.Next(&ev) {
			text := ev.Kind.String()
			if ev.Kind == otf2.Enter {
				text += " " + a.Defs.Text(a.Defs.Regions[uint32(ev.F[0])].Name)
			}
			if ev.Kind == otf2.MPICollectiveEnd && (ev.F[0] != 1 || ev.F[2] != 0) {
				t.Errorf("collective %v, want a broadcast of rank 0", ev.F)
			}
			got = append(got, text)
		}
	}
	want := []string{"ENTER solve<int, 3>", "ENTER MPI_Send", "MPI_SEND", "LEAVE", "ENTER MPI_Isend", "MPI_ISEND", "LEAVE", "ENTER MPI_Bcast", "MPI_COLLECTIVE_BEGIN", "MPI_COLLECTIVE_END", "LEAVE", "LEAVE",
		"ENTER MPI_Recv", "MPI_RECV", "LEAVE", "ENTER MPI_Irecv", "MPI_IRECV_REQUEST", "LEAVE", "ENTER MPI_Wait", "MPI_IRECV", "LEAVE", "ENTER MPI_Bcast", "MPI_COLLECTIVE_BEGIN", "MPI_COLLECTIVE_END", "LEAVE"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	notes := strings.Join(a.Warnings.List(), "\n")
	for _, want := range []string{"states are left out", "neither calls of MPI nor functions"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note says %q: %s", want, notes)
		}
	}
}

func TestDamaged(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "#Paraver (", "no date"},
		{"no tasks", "#Paraver (x):9_ns:0:1:3(1:1),0\n", "says \"3\" tasks and lists 1"},
		{"nothing in it", "#Paraver (x):9_ns:0:1:1(1:1),0\n", "no events and no messages"},
		{"many applications", "#Paraver (x):9_ns:0:900000000:1(1:1),0\n", "fewer applications"},
	} {
		if _, err := open(write(t, tt.text, "")); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	// A line that is no record costs that line.
	a, err := open(write(t, small+"2:1:1:9:1:5:50000001:1\n3:1:1\n", ""))
	if err != nil || !strings.Contains(strings.Join(a.Warnings.List(), "\n"), "no record was left out") {
		t.Errorf("%v", err)
	}
}

func TestSniff(t *testing.T) {
	if !Format.Sniff(&foreign.Input{Head: []byte(small)}) || Format.Sniff(&foreign.Input{Head: []byte("#Paraview (")}) {
		t.Error("by its first word")
	}
}

// FuzzRead holds that no text makes the reader fail in another way than with an
// error. The archive itself is tried with whole files, and in damagetest.
func FuzzRead(f *testing.F) {
	f.Add([]byte(small), []byte("EVENT_TYPE\n9 50000001 x\nVALUES\n1 MPI_Send\n"))
	f.Fuzz(func(t *testing.T, prv, pcf []byte) {
		n := newNames()
		if err := n.read(bytes.NewReader(pcf)); err != nil {
			return
		}
		r := newReader(n)
		if err := r.read(bytes.NewReader(prv)); err != nil {
			return
		}
		r.close()
		r.classify()
		r.attach()
		r.roots()
	})
}
