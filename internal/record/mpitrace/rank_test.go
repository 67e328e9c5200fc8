package mpitrace

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rankBytes is a file of one process as the library writes it.
func rankBytes(rank, size uint32, records ...[]byte) []byte {
	b := make([]byte, windowSize)
	copy(b, rankMagic)
	binary.LittleEndian.PutUint32(b[8:], rank)
	binary.LittleEndian.PutUint32(b[12:], size)
	binary.LittleEndian.PutUint64(b[16:], 1000)
	binary.LittleEndian.PutUint64(b[32:], 1000)
	binary.LittleEndian.PutUint64(b[40:], 9000)
	binary.LittleEndian.PutUint32(b[80:], 1)
	copy(b[88:], "host")
	at := headSize
	for _, r := range records {
		at += copy(b[at:], r)
	}
	return b
}

func short(time uint64, k kind, a uint32) []byte {
	b := make([]byte, shortSize)
	binary.LittleEndian.PutUint64(b, time)
	b[8] = byte(k)
	binary.LittleEndian.PutUint32(b[12:], a)
	return b
}

func long(time uint64, k kind, op uint8, a, comm uint32, tag int32, n, req uint64) []byte {
	b := append(short(time, k, a), make([]byte, longSize-shortSize)...)
	b[9] = op
	binary.LittleEndian.PutUint32(b[16:], comm)
	binary.LittleEndian.PutUint32(b[20:], uint32(tag))
	binary.LittleEndian.PutUint64(b[24:], n)
	binary.LittleEndian.PutUint64(b[32:], req)
	return b
}

func fileName(time uint64, name string) []byte {
	b := long(time, kFileName, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint16(b[10:], uint16(len(name)))
	copy(b[shortSize:], name)
	return b
}

func write(t testing.TB, dir, name string, body []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), body, 0o666); err != nil {
		t.Fatal(err)
	}
}

var world = append(long(1001, kComm, 0, 1, 0, -1, 0, 77), long(1002, kMembers, 0, 0, 0, 0, 0, 0)...)

// A process that vanished in the middle of a call leaves its regions closed.
func TestOpenRegions(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rank.0", rankBytes(0, 1, world, short(1100, kEnter, 0), short(1200, kEnter, 1), long(1300, kSend, 0, 0, 0, 5, 8, 0)))
	archive := filepath.Join(dir, "a.otf2")
	sum, err := Convert(dir, archive)
	if err != nil || sum.Events != 5 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if n := printed(t, archive); n["ENTER"] != 2 || n["LEAVE"] != 2 {
		t.Errorf("%v", n)
	}
}

// Records of threads are told apart, and what a thread has open is its own; a
// thread that comes out of turn is damage.
func TestThreadRecords(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rank.0", rankBytes(0, 1, world, short(1100, kEnter, 0), short(1200, kThread, 1), short(1201, kEnter, 1), short(1202, kThread, 0), short(1203, kEnter, 2),
		short(1204, kThread, 1), short(1205, kLeave, 1), short(1206, kThread, 0), short(1207, kLeave, 2), short(1208, kThread, 3), short(1209, kEnter, 1)))
	archive := filepath.Join(dir, "a.otf2")
	sum, err := Convert(dir, archive)
	if err != nil || !strings.Contains(strings.Join(sum.Notes, "\n"), "damaged record") {
		t.Fatalf("%+v, %v", sum, err)
	}
	if n := printed(t, archive); n["ENTER"] != 3 || n["LEAVE"] != 3 {
		t.Errorf("%v", n)
	}
	if all := strings.Join(lines(t, archive, "-G"), "\n"); strings.Count(all, `"thread 1"`) == 0 || strings.Contains(all, `"thread 2"`) {
		t.Error(all)
	}
}

// Records of windows and files that name none are left out; a name in pieces
// belongs to what follows.
func TestSidedRecords(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rank.0", rankBytes(0, 1, world, fileName(1100, "/a/long/name/of/a/file/t"), fileName(1101, "hat goes on"), long(1102, kFileOpened, 0, 0, 0, 0, 0, 7),
		long(1103, kIOBegin, 0, 0, 0, 0, 10, 1), long(1104, kIOBegin, 0, 0, 5, 0, 10, 2), long(1105, kRMAPut, 0, 0, 3, 0, 10, 3), fileName(1106, "/other"), long(1107, kFileDeleted, 0, 0, 0, 0, 0, 0),
		long(1108, kFileOpened, 0, 0, 9, 0, 0, 8)))
	archive := filepath.Join(dir, "a.otf2")
	sum, err := Convert(dir, archive)
	if err != nil || len(sum.Notes) == 0 || !strings.Contains(strings.Join(sum.Notes, "\n"), "file 9 comes after 1") {
		t.Fatalf("%+v, %v", sum, err)
	}
	if n := printed(t, archive); n["IO_OPERATION_BEGIN"] != 1 || n["IO_CREATE_HANDLE"] != 1 || n["IO_DELETE_FILE"] != 1 || n["RMA_PUT"] != 0 {
		t.Errorf("%v", n)
	}
	all := strings.Join(lines(t, archive, "-G"), "\n")
	if !strings.Contains(all, `Name: "/a/long/name/of/a/file/that goes on"`) || !strings.Contains(all, `Name: "/other"`) {
		t.Error(all)
	}
}

func TestDamage(t *testing.T) {
	good := rankBytes(0, 2, world)
	for name, tt := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"nothing":         {nil, "no MPI process"},
		"not ours":        {map[string][]byte{"rank.0": []byte("hello")}, "no MPI process"},
		"a rank is twice": {map[string][]byte{"rank.0": good, "rank.1": good}, "not those of one run"},
		"other sizes":     {map[string][]byte{"rank.0": good, "rank.1": rankBytes(1, 3)}, "not those of one run"},
		"too many":        {map[string][]byte{"rank.0": rankBytes(0, 1<<31)}, "no MPI process"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, body := range tt.files {
				write(t, dir, file, body)
			}
			_, err := Convert(dir, filepath.Join(dir, "a.otf2"))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
	// A damaged record ends its file; what came before is kept and it is said.
	dir := t.TempDir()
	write(t, dir, "rank.0", rankBytes(0, 2, world, short(1100, kEnter, 0), short(1200, 99, 0)))
	sum, err := Convert(dir, filepath.Join(dir, "a.otf2"))
	if err != nil || !strings.Contains(strings.Join(sum.Notes, "\n"), "damaged record") || !strings.Contains(strings.Join(sum.Notes, "\n"), "1 of 2 processes left no file") {
		t.Errorf("%+v, %v", sum, err)
	}
}

// No file may panic the conversion or make it allocate without bound.
func FuzzRank(f *testing.F) {
	f.Add(append(world[:len(world):len(world)], short(5, kLeave, 1)...))
	f.Add(long(1, kIrecv, 0, 3, 9, -1, 1<<60, 1<<63))
	f.Add(append(short(9, kEnter, 500), short(1, kLeave, 0)...))
	f.Add(long(1, kComm, 3, 1<<31, 0, 5, 1<<40, 0))
	f.Add(slices.Concat(world, long(2, kWin, 0, 0, 0, 0, 0, 9), long(3, kRMAPut, 0, 1, 0, 0, 100, 1), long(4, kRMAGot, 0, 0, 0, 0, 8, 0), long(5, kRMAAtomic, 7, 1, 0, 0, 8, 2),
		long(6, kRMADone, 1, 0, 0, 0, 0, 1), long(7, kRMADone, 0, 0, 9, 0, 0, 2), short(8, kWinFreed, 0)))
	f.Add(slices.Concat(world, fileName(2, "a name"), long(3, kFileOpened, 2, 0, 0, 1, 0, 7), long(4, kIOBegin, 1, 2, 0, 0, 100, 1), long(5, kIODone, 0, 0, 0, 0, 100, 1), short(6, kFileClosed, 0),
		fileName(7, "another"), long(8, kFileDeleted, 0, 0, 0, 0, 0, 0), long(9, kFileSeek, 1, 0, 5, 0, 1, 2)))
	f.Add(slices.Concat(world, short(2, kThread, 1), short(3, kEnter, 1), short(4, kThread, 0), short(5, kThread, 9)))
	f.Fuzz(func(t *testing.T, records []byte) {
		if len(records) > windowSize-headSize {
			return
		}
		dir := t.TempDir()
		write(t, dir, "rank.0", rankBytes(0, 2, records))
		write(t, dir, "rank.1", rankBytes(1, 2, world))
		sum, err := Convert(dir, filepath.Join(dir, "a.otf2"))
		if err == nil && sum.Processes != 2 {
			t.Fatalf("%+v", sum)
		}
	})
}

// Only ranks of this host can have samples taken here, and only on its clock.
func TestRanksOfThisHost(t *testing.T) {
	for _, tt := range []struct {
		name  string
		hosts []string // by rank
		want  map[int]int
		says  string
	}{
		{"one host", []string{"here", "here", "here"}, map[int]int{100: 0, 101: 1, 102: 2}, ""},
		{"two hosts", []string{"here", "there", "here"}, map[int]int{100: 0, 102: 2}, "1 of 3 ranks ran on other hosts than here"},
		{"another clock", []string{"there", "here", "here"}, nil, "rank 0 ran on there"},
		{"nothing", nil, map[int]int{}, ""},
	} {
		l := &Launch{dir: t.TempDir()}
		for rank, host := range tt.hosts {
			b := rankBytes(uint32(rank), uint32(len(tt.hosts)))
			binary.LittleEndian.PutUint32(b[84:], uint32(100+rank))
			copy(b[88:], host+"\x00")
			write(t, l.dir, fmt.Sprintf("rank.%d", rank), b)
		}
		write(t, l.dir, "rank.9", []byte("torn"))
		got, missing := l.Ranks("here")
		if d := cmp.Diff(tt.want, got); d != "" || !strings.HasPrefix(missing, tt.says) || (tt.says == "") != (missing == "") {
			t.Errorf("%s: %q %s", tt.name, missing, d)
		}
	}
}

// The launcher hands on what the recorder of samples preloads too.
func TestStartKeepsPreloads(t *testing.T) {
	l := &Launch{options: Options{Command: []string{"mpirun", "./app"}}, family: openMPI, library: "mpi.so", dir: "d"}
	command, env := l.Start([]string{"A=1", "LD_PRELOAD=heap.so:users.so"})
	wantCommand := []string{"mpirun", "-x", "LD_PRELOAD=mpi.so:heap.so:users.so", "-x", "ISOBATH_MPI_DIR=d", "./app"}
	wantEnv := []string{"A=1", "LD_PRELOAD=mpi.so:heap.so:users.so", "ISOBATH_MPI_DIR=d"}
	if !slices.Equal(command, wantCommand) || !slices.Equal(env, wantEnv) {
		t.Errorf("%q\n%q", command, env)
	}
}
