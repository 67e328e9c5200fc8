// Package paraver reads traces of Paraver, as Extrae and others write them: the
// text of .prv with the names of .pcf and .row beside it (Paraver's "Trace
// generation" manual, chapters 1 and 2). What of it is message passing becomes
// an OTF2 archive.
package paraver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// Format recognises and reads traces of Paraver.
var Format = foreign.Format{Name: "paraver", Kind: kind.Trace, Sniff: func(in *foreign.Input) bool { return !in.Dir() && bytes.HasPrefix(in.Head, []byte("#Paraver (")) }, Trace: open}

const maxLine = 16 << 20 // a header lists every task

// Types of events that are understood.
const (
	TypePointToPoint = 50000001
	TypeCollective   = 50000002
	TypeOther        = 50000003 // and up to lastMPI: calls of MPI of other kinds
	lastMPI          = 50000999
	TypeRoot         = 50100003
	TypeCommunicator = 50100004
	TypeSent         = 50100001
	TypeReceived     = 50100002
	TypeFunction     = 60000019
)

// Calls are the numbers that Extrae gives calls of MPI.
var Calls = map[string][2]int64{
	"MPI_Send": {TypePointToPoint, 1}, "MPI_Recv": {TypePointToPoint, 2}, "MPI_Isend": {TypePointToPoint, 3}, "MPI_Irecv": {TypePointToPoint, 4},
	"MPI_Wait": {TypePointToPoint, 5}, "MPI_Waitall": {TypePointToPoint, 6}, "MPI_Bsend": {TypePointToPoint, 33}, "MPI_Ssend": {TypePointToPoint, 34},
	"MPI_Rsend": {TypePointToPoint, 35}, "MPI_Ibsend": {TypePointToPoint, 36}, "MPI_Issend": {TypePointToPoint, 37}, "MPI_Irsend": {TypePointToPoint, 38},
	"MPI_Test": {TypePointToPoint, 39}, "MPI_Cancel": {TypePointToPoint, 40}, "MPI_Sendrecv": {TypePointToPoint, 41}, "MPI_Sendrecv_replace": {TypePointToPoint, 42},
	"MPI_Waitany": {TypePointToPoint, 59}, "MPI_Waitsome": {TypePointToPoint, 60}, "MPI_Probe": {TypePointToPoint, 61}, "MPI_Iprobe": {TypePointToPoint, 62},
	"MPI_Bcast": {TypeCollective, 7}, "MPI_Barrier": {TypeCollective, 8}, "MPI_Reduce": {TypeCollective, 9}, "MPI_Allreduce": {TypeCollective, 10},
	"MPI_Alltoall": {TypeCollective, 11}, "MPI_Alltoallv": {TypeCollective, 12}, "MPI_Gather": {TypeCollective, 13}, "MPI_Gatherv": {TypeCollective, 14},
	"MPI_Scatter": {TypeCollective, 15}, "MPI_Scatterv": {TypeCollective, 16}, "MPI_Allgather": {TypeCollective, 17}, "MPI_Allgatherv": {TypeCollective, 18},
	"MPI_Scan": {TypeCollective, 30}, "MPI_Reduce_scatter": {TypeCollective, 80},
	"MPI_Init": {TypeOther, 31}, "MPI_Finalize": {TypeOther, 32}, "MPI_Comm_rank": {TypeOther, 19}, "MPI_Comm_size": {TypeOther, 20},
}

// names are what .pcf calls the values of types.
type names map[int64]map[int64]string

// newNames has what is known without a .pcf.
func newNames() names {
	n := names{}
	for name, number := range Calls {
		n.set(number[0], number[1], name)
	}
	return n
}

func (n names) set(typ, value int64, name string) {
	if n[typ] == nil {
		n[typ] = map[int64]string{}
	}
	n[typ][value] = name
}

// region is the name of what an event with a value begins.
func (n names) region(typ, value int64) string {
	if name := n[typ][value]; name != "" {
		return name
	}
	if typ == TypeFunction {
		return fmt.Sprintf("function %d", value)
	}
	return fmt.Sprintf("MPI_call_%d", value)
}

// understood reports whether events of a type begin and end calls.
func understood(typ int64) bool {
	return typ >= TypePointToPoint && typ <= lastMPI || typ == TypeFunction
}

// readNames reads a .pcf: sections of EVENT_TYPE, whose lines are "gradient type
// label", each followed by VALUES, whose lines are "value label".
func (n names) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var types []int64
	section := ""
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			if section == "VALUES" {
				types = nil
			}
			section = ""
			continue
		}
		switch word, _, _ := strings.Cut(text, " "); {
		case word == "EVENT_TYPE":
			section, types = "EVENT_TYPE", nil
		case word == "VALUES":
			section = "VALUES"
		case section == "EVENT_TYPE":
			if f := strings.Fields(text); len(f) >= 2 {
				if t, err := strconv.ParseInt(f[1], 10, 64); err == nil && understood(t) {
					types = append(types, t)
				}
			}
		case section == "VALUES":
			value, label, ok := strings.Cut(text, " ")
			v, err := strconv.ParseInt(value, 10, 64)
			if !ok || err != nil || v == 0 {
				continue
			}
			for _, t := range types {
				n.set(t, v, strings.TrimSpace(label))
			}
		}
	}
	return lines.Err()
}

// beside opens the file of the same name with another ending, if there is one.
func beside(path, ending string) (*os.File, error) {
	f, err := plainfile.Open(strings.TrimSuffix(path, filepath.Ext(path)) + ending)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// open reads a trace and makes an archive of it.
func open(path string) (*otf2.Archive, error) {
	n := newNames()
	pcf, err := beside(path, ".pcf")
	if err != nil {
		return nil, err
	}
	if pcf != nil {
		err := n.read(pcf)
		pcf.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pcf.Name(), err)
		}
	}
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := newReader(n)
	if err := t.read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if pcf == nil {
		t.notes["no .pcf lies beside the trace: calls are named by the numbers of Extrae"]++
	}
	t.hosts(path)
	return t.archive(path)
}

// hosts reads the names of nodes from a .row.
func (t *reader) hosts(path string) {
	row, err := beside(path, ".row")
	if err != nil || row == nil {
		return
	}
	defer row.Close()
	lines := bufio.NewScanner(row)
	lines.Buffer(nil, maxLine)
	left := 0
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		switch {
		case len(f) == 4 && f[0] == "LEVEL" && f[2] == "SIZE":
			left = 0
			if n, err := strconv.Atoi(f[3]); err == nil && f[1] == "NODE" {
				left = n
			}
		case left > 0 && len(f) > 0:
			t.nodes = append(t.nodes, strings.Join(f, " "))
			left--
		}
	}
}
