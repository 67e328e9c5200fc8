//go:build linux && amd64

package tree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/record/reftrace"
)

// goTurns are loops over channels, functions, maps and numbers, ended by a label, a
// panic and a break. What each does stands behind it: entries and turns.
const goTurns = `package main

import "os"

var table [9][11]int

func gcd(a, b int) int {
	for b != 0 { // 7 12
		a, b = b, a%b
	}
	return a
}

func upTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n { // 1 5
			if !yield(i) {
				return
			}
		}
	}
}

func drain(list []int, k int) (sum int) {
	defer func() { recover() }()
	for i := 0; ; i++ { // 2 9
		sum += list[i] * k
	}
}

//go:noinline
func run(list []int, text string) int {
	sum := 0
	jobs := make(chan int)
	go func() {
		for _, x := range list {
			jobs <- x
		}
		close(jobs)
	}()
	for x := range jobs { // 1 4
		for x > 1 { // 4 5
			x /= 2
			sum++
		}
	}
	for k := range 2 { // 1 2
		sum += drain(list[k:], k)
	}
rows:
	for i := range table { // 1 9
		for j := range table[i] { // 9 45
			if i+j == 7 || j > i+4 {
				continue rows
			}
			table[i][j] = i - j
		}
	}
	for k := 1; k < 8; k++ { // 1 7
		sum += gcd(12, k)
	}
	for x := range upTo(30) { // 1 5
		if x == 4 {
			break
		}
		table[x][0] ^= x
	}
	for _, c := range text { // 1 6
		sum += int(c)
	}
	byName := map[string]int{"a": 1, "b": 2, "c": 3}
	for _, v := range byName { // 1 3
		table[v][1] = v
	}
	return sum
}

func main() {
	if run([]int{1, 2, 4, 5}, "größer"+os.Getenv("none")) == 1 {
		os.Exit(1)
	}
}
`

// TestGoTurns: no count of a loop of Go is shown as exact and wrong, with and without
// optimisation, and most are exact.
func TestGoTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and steps programs")
	}
	source := filepath.Join(t.TempDir(), "turns.go")
	if err := os.WriteFile(source, []byte(goTurns), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string]string{"as it comes": "", "without optimisation": "-N -l"} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "turns")
			if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath=false", "-gcflags="+flags, "-o", program, source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := recordTreeOf(t, program, "main.run", reftrace.Step)
			exact, all := 0, 0
			for line, want := range said(t, goTurns, " // ") {
				all++
				switch l := loopAt(got, line); {
				case l == nil || !l.Exact:
					t.Logf("line %d: %+v, want %d and %d", line, l, want.entries, want.turns)
				case l.Entries != want.entries || l.Trips.Trips != want.turns:
					t.Errorf("line %d: %d entries, %d turns are shown as exact, want %d and %d", line, l.Entries, l.Trips.Trips, want.entries, want.turns)
				default:
					exact++
				}
			}
			if t.Logf("%d of %d loops exact", exact, all); 3*exact < 2*all {
				t.Errorf("%d of %d loops exact", exact, all)
			}
		})
	}
}
