package sharing

import (
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/replay"
)

func TestSynchronises(t *testing.T) {
	for name, want := range map[string]bool{
		"pthread_barrier_wait": true, "__pthread_mutex_lock": true, "___pthread_mutex_unlock": true, "__lll_lock_wait": true, "pthread_cond_wait": true, "sem_post": true,
		"__new_sem_wait_slow64": true, "GOMP_barrier": true, "gomp_team_barrier_wait_end": true, "omp_set_lock": true, "__kmpc_barrier": true, "mtx_lock": true,
		"worker": false, "barrier_step": false, "": false, "memcpy": false, "pthread_self": false, "semantics": false, "omp_get_thread_num": false, "sem_value": false,
	} {
		if Synchronises(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// TestLatentOfLibraries: lines beside one another that only a library or locks use
// cost nothing now, and nobody can part them: they are not listed, those of the
// program are.
func TestLatentOfLibraries(t *testing.T) {
	for function, want := range map[string]int{"worker": 1, "": 0, "pthread_mutex_lock": 0} {
		all := []refs.Ref{{Addr: 0x9000, Size: 8, PC: 0x30, Place: 2, Thread: 1}}
		for range 400 {
			for thread := uint32(1); thread <= 2; thread++ {
				all = append(all, refs.Ref{Addr: 0x4000 + 64*uint64(thread-1), Size: 8, Op: refs.Modify, PC: 0x10, Place: 1, Thread: thread})
			}
		}
		reader := replay.NewReader(func(*refs.Ref) uint32 { return 0 }, 1<<16)
		if err := reader.Add(all); err != nil {
			t.Fatal(err)
		}
		r, err := Analyse(t.Context(), reader.Trace([]refs.Place{{}, {Function: function}, {Function: "worker", File: "a.c", Line: 9}}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Lines) != want || want > 0 && r.Lines[0].Kind != Latent {
			t.Errorf("used in %q: %d lines %+v, want %d", function, len(r.Lines), r.Lines, want)
		}
	}
}

// TestBarrier: threads that meet at a barrier do not share its line falsely; what
// they count beside it they do, and the program's own code makes no line a lock. Code
// without a name is a library's only where the program's own has places.
func TestBarrier(t *testing.T) {
	const line = 0x4000
	for _, tt := range []struct {
		name, function string
		beside, placed bool // the program counts in the line too; its code has places
		want           Kind
	}{
		{"barrier", "pthread_barrier_wait", false, true, Synchronisation},
		{"own code", "worker", false, true, True},
		{"barrier beside data", "pthread_barrier_wait", true, true, True},
		{"library", "", false, true, Library},
		{"data of a library and the program", "", true, true, True},
		{"nothing has a name", "", false, false, True},
	} {
		all := []refs.Ref{{Addr: 0x9000, Size: 8, PC: 0x30, Place: 2, Thread: 1}}
		for turn := range 40 {
			for thread := uint32(1); thread <= 4; thread++ {
				// Arrive, leave: a barrier of the C library counts in several words.
				all = append(all, refs.Ref{Addr: line, Size: 4, Op: refs.Store, PC: 0x10, Place: 1, Thread: thread},
					refs.Ref{Addr: line + 4*uint64(1+(turn+int(thread))%3), Size: 4, Op: refs.Store, PC: 0x14, Place: 1, Thread: thread})
				if tt.beside {
					all = append(all, refs.Ref{Addr: line + 32 + 4*uint64(thread), Size: 4, Op: refs.Store, PC: 0x20, Place: 2, Thread: thread})
				}
			}
		}
		places := []refs.Place{{}, {Function: tt.function}, {Function: "worker", File: "a.c", Line: 9}}
		if !tt.placed {
			places[2] = refs.Place{}
		}
		reader := replay.NewReader(func(*refs.Ref) uint32 { return 0 }, 1<<16)
		if err := reader.Add(all); err != nil {
			t.Fatal(err)
		}
		r, err := Analyse(t.Context(), reader.Trace(places), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Lines) != 1 || r.Lines[0].Kind != tt.want {
			t.Errorf("%s: %d lines, the first %+v, want %s", tt.name, len(r.Lines), r.Lines[0], tt.want)
		}
	}
}
