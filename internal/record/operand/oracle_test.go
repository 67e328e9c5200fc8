package operand

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"testing"
)

// A program with loops, recursion, switches, strings and lists, linked with the
// library's own vector code.
const oracleProgram = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; long value; };
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static long pick(int k, long *v) {
	switch (k & 15) {
	case 0: return v[3]; case 1: v[1] += k; return 2; case 2: return v[k & 7] * 3; case 3: return v[2] ^ v[1];
	case 4: return k; case 5: v[4]--; return v[4]; case 6: return v[0] / (v[1] | 1); case 7: return v[5] << 2;
	case 8: v[6] = k; return 1; case 9: return v[7] + v[6]; default: return v[k % 8];
	}
}
static double product(double *a, double *b, int n) {
	double s = 0;
	for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += a[i*n+j] * b[j*n+i];
	return s;
}
int main(void) {
	static int v[64]; static double a[100], b[100]; long w[8] = {1,2,3,4,5,6,7,8}; char text[200];
	struct node *list = 0;
	for (int i = 0; i < 64; i++) v[i] = (i * 37) % 61;
	qsort(v, 64, sizeof v[0], compare);
	for (int i = 0; i < 40; i++) { struct node *n = malloc(sizeof *n); n->next = list; n->value = i; list = n; }
	long sum = 0;
	for (struct node *n = list; n; n = n->next) sum += n->value;
	for (int i = 0; i < 100; i++) { a[i] = i; b[i] = 100 - i; sum += pick(i, w); }
	memset(text, 'x', 199); text[199] = 0;
	memmove(text + 3, text, 150);
	sum += strlen(text) + (strchr(text, 'y') != 0);
	printf("%ld %g %s\n", sum, product(a, b, 10), text);
	return 0;
}
`

type symtab []elf.Symbol

func (s symtab) FunctionAt(addr uint64) (low, high uint64, ok bool) {
	i := sort.Search(len(s), func(i int) bool { return s[i].Value > addr }) - 1
	if i < 0 || addr >= s[i].Value+s[i].Size {
		return 0, 0, false
	}
	return s[i].Value, s[i].Value + s[i].Size, true
}

func functions(t *testing.T, path string) symtab {
	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	all, _ := e.Symbols()
	var out symtab
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Value < out[j].Value })
	return out
}

// ran is one instruction that was executed.
type ran struct {
	pc   uint64
	addr uint64
	has  bool
	open bool // the address is not known
}

func (r ran) is(a Access) bool { return r.has && r.pc == a.PC && (r.open || r.addr == a.Addr) }

// buildOracle compiles the program with a compiler, static and at fixed places.
func buildOracle(t *testing.T, gcc string) string {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(source, []byte(oracleProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-O2", "-static", "-no-pie", "-Wl,--eh-frame-hdr", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// compare runs a program by a function that looks at every step, once with
// symbols and once without, and fails for a wrong address.
func compare(t *testing.T, program string, run func(o *oracle)) {
	t.Helper()
	for _, bounds := range []struct {
		name string
		b    Bounds
	}{{"symbols", functions(t, program)}, {"unwind table", nil}} {
		im, err := OpenImage(program, bounds.b)
		if err != nil {
			t.Fatal(err)
		}
		o := &oracle{t: t, im: im, promise: map[int]Access{}, reasons: map[Reason]int{}}
		run(o)
		t.Logf("%s: %d steps: %d back, %d again, %d at or ahead, %d none (%v); unverified %d, of them wrong %d", bounds.name, o.steps, o.back, o.again, o.ahead, o.none, o.reasons, o.unverified, o.doubtful)
		if o.doubtful*100 > o.steps {
			t.Errorf("%s: %d of %d that are not verified are wrong", bounds.name, o.doubtful, o.unverified)
		}
		if o.wrong > 0 {
			t.Errorf("%s: %d wrong addresses", bounds.name, o.wrong)
		}
		if o.steps < 10000 || (o.back+o.ahead)*2 < o.steps {
			t.Errorf("%s: %d steps, %d resolved backward, %d ahead", bounds.name, o.steps, o.back, o.ahead)
		}
	}
}

type oracle struct {
	t       *testing.T
	im      *Image
	truth   func(pc uint64, r *Registers) ran // of one instruction, from the state before it
	memory  Memory                            // of the stack, as it is now
	later   Memory                            // all of it, as it is now
	history []ran                             // newest last
	promise map[int]Access

	steps, back, ahead, none    int
	again                       int
	reasons                     map[Reason]int
	wrong, unverified, doubtful int
}

// steps at most; one takes about 20 µs.
const mostSteps = 40000

// look compares what the rule says here with what ran and what will.
func (o *oracle) look(pc uint64, regs *Registers) {
	here := o.truth(pc, regs)
	if a, ok := o.promise[o.steps]; ok {
		delete(o.promise, o.steps)
		if !here.is(a) {
			o.wrong++
			o.t.Errorf("step %d: promised %#x by %#x, came %+v", o.steps, a.Addr, a.PC, here)
		}
	}
	a, why := o.im.Find(pc, 0, &State{Registers: regs, Stack: o.memory, Later: o.later})
	switch {
	case why != Found:
		o.none++
		o.reasons[why]++
		if why != Vector { // whether it accessed memory is in a mask
			o.checkBlame(a)
		}
	case a.Again:
		o.again++
		if !a.Unverified {
			o.promise[o.steps+a.Dist] = a
		}
		o.checkBlame(a)
	case a.Dist >= 0:
		o.ahead++
		o.promise[o.steps+a.Dist] = a
	default:
		o.back++
		o.checkBack(a)
	}
	o.history = append(o.history, here)
	if len(o.history) > 64 {
		o.history = o.history[32:]
	}
}

// checkBlame checks that the instruction that is named made the last access.
func (o *oracle) checkBlame(a Access) {
	for i := len(o.history) - 1; i >= 0 && a.PC != 0; i-- {
		if o.history[i].has {
			if o.history[i].pc != a.PC && !a.Unverified {
				o.wrong++
				o.t.Errorf("step %d: %+v is named, but the last access is %+v", o.steps, a, o.history[i])
			}
			return
		}
	}
}

func (o *oracle) checkBack(a Access) {
	if a.Unverified {
		o.unverified++
	}
	// The last access is the one that is named. Ways of different lengths may lead
	// from it to here, so the distance is that of one of them.
	n := len(o.history)
	last := n - 1
	for last >= 0 && !o.history[last].has {
		last--
	}
	good := last >= 0 && o.history[last].is(a)
	switch {
	case good:
	case a.Unverified:
		o.doubtful++
	default:
		o.wrong++
		o.t.Errorf("step %d: %+v, but the last were %+v", o.steps, a, o.history[max(0, n-4):])
	}
}
