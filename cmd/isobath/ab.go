package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/redact"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/memory/compare"
	"github.com/isobath/isobath/internal/memory/trial"
	"github.com/isobath/isobath/internal/record"
)

// abFlags are the flags of `isobath ab`.
type abFlags struct {
	runs          int
	until         string
	fixed         bool
	seed          uint64
	metric        string
	pin           int
	show          bool
	ignoreFailure bool
	failAbove     string
	strict        bool
	asJSON        bool
	values        bool
	record        string
	rate          int
	mode          string
	model         string
	sampling      []string // further flags of record, of 'isobath record --pair'
	refs          string
	backend       string
	output        string
}

func newAB() *cobra.Command {
	var f abFlags
	cmd := &cobra.Command{
		Use:   "ab [flags] -- CMD_A [ARG...] -- CMD_B [ARG...]",
		Short: "Is B slower than A? Pairs of runs in random order on a machine that does other things too",
		Long: `Runs two commands in pairs, each pair in the order a coin says, until the
difference is sure or --runs pairs are done. CPU time decides unless --metric
wall says otherwise: it is disturbed far less by other programs. The chance to
call a difference where there is none is 5 % over all looks at the data.

--record DIR records every run, as 'isobath record' does; 'isobath diff DIR'
then says where the difference is. --refs FUNCTION also counts every memory
reference of a function: a number without noise where the program repeats
itself.

'isobath ab TRIAL' prints a trial again that was kept by -o or --record, and
'isobath open TRIAL' shows it in the browser.`,
		Example: `  isobath ab -- ./old 1000 -- ./new 1000
  isobath ab --runs 100 --fail-above 2% -- ./old -- ./new
  isobath ab --record trial --runs 20 -- ./old -- ./new && isobath diff trial
  isobath ab --refs solve -- ./old -- ./new`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.runs, "runs", 0, "at most this many `pairs` (default 60; with --until 1000)")
	flags.StringVar(&f.until, "until", "", "go on until the change is known to this `much`, such as 1%")
	flags.BoolVar(&f.fixed, "fixed", false, "look once, after all pairs")
	flags.Uint64Var(&f.seed, "seed", 0, "`seed` of the coin (default: random)")
	flags.StringVar(&f.metric, "metric", trial.LaneCPU, "what decides: cpu or wall")
	flags.IntVar(&f.pin, "pin", -1, "run both on this `CPU`")
	flags.BoolVar(&f.show, "show-output", false, "show what the commands write, on standard error")
	flags.BoolVar(&f.ignoreFailure, "ignore-failure", false, "count pairs whose commands end with the same status, whatever it is")
	flags.StringVar(&f.failAbove, "fail-above", "", "exit with 3 if B is surely slower by this `much`, such as 5%; end when it surely is not")
	flags.BoolVar(&f.strict, "strict", false, "exit with 4 if the gate cannot tell")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	flags.BoolVar(&f.values, "values", false, "JSON: with the times of every pair")
	flags.StringVar(&f.record, "record", "", "record every run, into this new `folder`")
	flags.StringVarP(&f.output, "output", "o", "", "keep the trial as this `file`, for 'isobath open' and 'isobath ab FILE'")
	flags.IntVar(&f.rate, "rate", 0, "with --record: samples a `second` and CPU")
	flags.StringVar(&f.mode, "mode", "", "with --record: how to sample: auto, pmu or timer")
	flags.StringVar(&f.model, "model", "", "with --record: estimate levels for the machine of this `topology`, or local")
	flags.StringVar(&f.refs, "refs", "", "count every reference of this `function` too")
	flags.StringVar(&f.backend, "backend", "", "with --refs: `how`: auto, step, qemu, valgrind or instrument")
	return cmd
}

func (f *abFlags) run(cmd *cobra.Command, args []string) error {
	if cmd.ArgsLenAtDash() < 0 && len(args) == 1 {
		return f.again(cmd, args[0])
	}
	a, b, err := twoCommands(cmd, args)
	if err != nil {
		return err
	}
	design, limit, err := f.design()
	if err != nil {
		return err
	}
	t := &abTrial{abFlags: f, commands: [][]string{a, b}, id: trialID()}
	if f.pin >= 0 {
		t.execution.Pin = &f.pin
	}
	if f.show {
		t.execution.Show = os.Stderr
	}
	r, err := t.trial(cmd.Context(), design)
	if left := t.tidy(); err != nil && left > 0 {
		say("%s recorded before are in %s: 'isobath diff %[2]s' compares them", term.Counted(left, "pair"), f.record)
	}
	if err != nil {
		return err
	}
	r.Commands = redact.Lines(t.commands) // it is kept, and passed on
	if f.refs != "" && r.Stopped != trial.Interrupted {
		if err := t.countRefs(cmd.Context(), r); err != nil {
			return err
		}
	}
	f.gate(r, limit)
	if r.Pairs == 0 { // nothing to keep: interrupted
		return f.print(cmd.OutOrStdout(), r)
	}
	if f.record != "" {
		if err := keepTrial(filepath.Join(f.record, trial.File), r); err != nil {
			return err
		}
		say("'isobath open %s' shows the trial; 'isobath diff %s' says where the difference is", f.record, f.record)
	}
	if f.output != "" {
		if err := keepTrial(f.output, r); err != nil {
			return err
		}
		say("'isobath open %s' shows the trial", f.output)
	}
	return f.print(cmd.OutOrStdout(), r)
}

// twoCommands splits what follows the first -- at the second.
func twoCommands(cmd *cobra.Command, args []string) (a, b []string, err error) {
	i := slices.Index(args, "--")
	if cmd.ArgsLenAtDash() != 0 || i <= 0 || i == len(args)-1 {
		return nil, nil, usagef("%s takes two commands: -- CMD_A -- CMD_B", cmd.Name())
	}
	return args[:i], args[i+1:], nil
}

func trialID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// design checks the flags.
func (f *abFlags) design() (*trial.Design, *float64, error) {
	d := &trial.Design{Seed: f.seed, Fixed: f.fixed}
	if f.seed == 0 {
		var b [8]byte
		rand.Read(b[:])
		d.Seed = binary.LittleEndian.Uint64(b[:]) >> 12 // a number that JSON keeps
	}
	most := f.runs
	if f.until != "" {
		until, points, ok := parseLimit(f.until)
		if !ok || points || until == 0 {
			return nil, nil, usagef("--until %q: want a change such as 1%%", f.until)
		}
		d.Until = until
		if most == 0 {
			most = 1000
		}
	}
	if most == 0 {
		most = 60
	}
	switch {
	case f.runs < 0 || most > trial.MaxPairs:
		return nil, nil, usagef("--runs %d: want 1 to %s", f.runs, term.Counted(trial.MaxPairs, "pair"))
	case f.metric != trial.LaneCPU && f.metric != trial.LaneWall:
		return nil, nil, usagef("--metric %q: want cpu or wall", f.metric)
	case f.output != "" && !strings.HasSuffix(f.output, ".json"):
		return nil, nil, usagef("--output %s: want a name that ends in .json", f.output)
	case f.fixed && f.until != "":
		return nil, nil, usagef("--fixed looks once; --until looks until it is enough")
	case f.record == "" && (f.rate != 0 || f.mode != "" || f.model != ""):
		return nil, nil, usagef("--rate, --mode and --model belong to --record")
	}
	d.Looks = trial.Looks(most)
	if f.fixed || most < 8 {
		d.Looks, d.Fixed = trial.OneLook(most), true
	}
	if f.failAbove == "" {
		return d, nil, nil
	}
	limit, points, ok := parseLimit(f.failAbove)
	if !ok || points {
		return nil, nil, usagef("--fail-above %q: want a change such as 5%%", f.failAbove)
	}
	d.Within = limit
	return d, &limit, nil
}

// abTrial is a trial under way.
type abTrial struct {
	*abFlags
	commands  [][]string
	id        string
	execution trial.Execution
	outputs   [2]uint64
	differ    bool
	left      bool // a command left something running
	made      bool // the folder of the recordings
	begun     int  // pairs of which a side was recorded
	counted   int  // pairs that both sides ended of
}

// trial warms up and runs the pairs.
func (t *abTrial) trial(ctx context.Context, d *trial.Design) (*trial.Report, error) {
	if t.record != "" {
		if err := free(t.record, false); err != nil {
			return nil, err
		}
		if err := os.Mkdir(t.record, 0o777); err != nil {
			return nil, err
		}
		t.made = true
	}
	for side, command := range t.commands {
		m, err := t.execution.Run(ctx, command)
		if err != nil {
			if ctx.Err() != nil {
				break // Run reports that nothing was measured
			}
			return nil, err
		}
		if err := t.check(command, m); err != nil {
			return nil, err
		}
		t.outputs[side], t.left = m.Output, t.left || m.Left
	}
	progress := term.NewProgress(os.Stderr, "trial")
	defer progress.Done()
	before := cpuTimes()
	run := &trial.Trial{Design: *d, Metric: t.metric, Measure: t.measure, Tell: func(pairs int, so trial.Decision) {
		t.counted = pairs
		text := fmt.Sprintf("%d of at most %s", pairs, term.Counted(d.Most(), "pair"))
		if so.Pairs > 0 {
			text += fmt.Sprintf(", %s (%s)", compare.Signed(1+so.Change), so.Verdict)
		}
		progress.Say(text)
	}}
	r, err := run.Run(ctx)
	if err != nil {
		return nil, err
	}
	if r.Pairs > 0 {
		t.hints(r, before)
	}
	return r, nil
}

// tidy removes recordings that are no pair, of programs that failed or were
// interrupted, and the folder if there is nothing else. It returns how many pairs
// are left.
func (t *abTrial) tidy() int {
	if !t.made {
		return 0
	}
	for pair := t.counted; pair < t.begun; pair++ {
		for _, side := range []string{"a", "b"} {
			out := trial.Recording(t.record, pair, side)
			_ = os.RemoveAll(out)
			_ = os.RemoveAll(out + record.Unfinished)
		}
	}
	if t.counted == 0 {
		_ = os.Remove(t.record) // stays if somebody put something there
	}
	return t.counted
}

// check fails a command that failed, with what it last said.
func (t *abTrial) check(command []string, m *trial.Measured) error {
	if m.Status == 0 || t.ignoreFailure {
		return nil
	}
	err := fmt.Errorf("%s ended with status %d; --ignore-failure compares it all the same", strings.Join(command, " "), m.Status)
	if tail := m.Tail(20); tail != "" {
		err = fmt.Errorf("%w\n%s", err, tail)
	}
	return err
}

// measure runs one side of a pair.
func (t *abTrial) measure(ctx context.Context, pair int, b, first bool) (*trial.Measured, error) {
	side := map[bool]int{true: 1}[b]
	command := t.commands[side]
	if t.record != "" {
		t.begun = pair + 1
		return t.recorded(ctx, pair, side, first)
	}
	m, err := t.execution.Run(ctx, command)
	if err != nil {
		return nil, err
	}
	t.left = t.left || m.Left
	t.differ = t.differ || m.Output != t.outputs[side] || t.outputs[0] != t.outputs[1]
	return m, t.check(command, m)
}

// recorded records one side of a pair by the verb record of this program, which
// keeps what the command writes off our output.
func (t *abTrial) recorded(ctx context.Context, pair, side int, first bool) (*trial.Measured, error) {
	name := [2]string{"a", "b"}[side]
	out := trial.Recording(t.record, pair, name)
	where, err := json.Marshal(run.Trial{ID: t.id, Pair: pair, Side: name, First: first, Commands: redact.Lines(t.commands)})
	if err != nil {
		return nil, err
	}
	args := []string{"record", "-o", out, "--force", "--trial", string(where)}
	for flag, value := range map[string]string{"--mode": t.mode, "--model": t.model} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	if t.rate > 0 {
		args = append(args, "--rate", fmt.Sprint(t.rate))
	}
	args = append(append(args, t.sampling...), "--")
	patient := t.execution
	patient.Grace = recordingGrace
	m, err := self(ctx, &patient, append(args, t.commands[side]...))
	if err != nil {
		return nil, err
	}
	manifest, err := run.ReadManifest(out)
	if err != nil { // a program that failed has a recording too
		return nil, fmt.Errorf("%s was not recorded:\n%s", strings.Join(t.commands[side], " "), m.Tail(20))
	}
	if err := t.check(t.commands[side], m); err != nil {
		return nil, err
	}
	m.Wall, m.CPU = manifest.Recording.Seconds, manifest.Recording.User+manifest.Recording.System
	return m, nil
}

// recordingGrace is longer than a recorder gives the program it records to end.
const recordingGrace = 20 * time.Second

// self runs another verb of this program.
func self(ctx context.Context, e *trial.Execution, args []string) (*trial.Measured, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return e.Run(ctx, append([]string{program}, args...))
}

// gate decides the exit code.
func (f *abFlags) gate(r *trial.Report, limit *float64) {
	r.FailAbove = limit
	if r.Pairs == 0 || limit != nil && r.Stopped == trial.Interrupted {
		r.Exit = 1
	}
	if limit == nil || r.Exit != 0 {
		return
	}
	lane := &r.Lanes[0]
	switch {
	case lane.Verdict == trial.More && *lane.Change >= *limit:
		r.Exit = compare.ExitRegression
	case lane.Verdict == trial.Unsure && f.strict:
		r.Exit = compare.ExitUnsure
	}
}

func keepTrial(path string, r *trial.Report) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.WriteBytes(path, 0, append(text, '\n'))
}

// again prints a trial that was kept.
func (f *abFlags) again(cmd *cobra.Command, path string) error {
	r, err := trial.Open(path)
	if err != nil {
		return err
	}
	return f.print(cmd.OutOrStdout(), r)
}

// print writes the trial and returns its exit code.
func (f *abFlags) print(w io.Writer, r *trial.Report) error {
	var err error
	if f.asJSON {
		shown := *r
		if !f.values {
			shown.Values = nil
		}
		err = printJSON(w, &shown)
	} else {
		err = writeTrial(w, r)
	}
	if err == nil && r.Exit != 0 {
		return exitCode(r.Exit)
	}
	return err
}

// hints says, once, what makes a trial doubtful.
func (t *abTrial) hints(r *trial.Report, before []float64) {
	hint := func(format string, args ...any) { r.Hints = append(r.Hints, fmt.Sprintf(format, args...)) }
	if r.Noise != nil {
		r.Noise.CPUs = runtime.NumCPU()
		r.Noise.Load, r.Noise.Steal = loadAverage(), stolen(before, cpuTimes())
		if load := r.Noise.Load; load != nil && *load > float64(r.Noise.CPUs) && r.Metric == trial.LaneWall {
			hint("%.1f processes want %s: wall time measures them too; --metric cpu does not", *load, term.Counted(r.Noise.CPUs, "CPU"))
		}
		if steal := r.Noise.Steal; steal != nil && *steal > .05 {
			hint("%.0f %% of the time was stolen by other guests of this machine", 100**steal)
		}
	}
	if text := doubtfulTimes(r); text != "" {
		hint("%s", text)
	}
	if t.left {
		hint("a command leaves something running when it ends: that is not measured, and may disturb what follows")
	}
	if t.differ && t.record == "" {
		hint("what the commands write differs between runs or between A and B")
	}
	if g := governor(); g != "" && g != "performance" {
		hint("the CPUs' governor is %q: their clock follows the load", g)
	}
}

// shortRun is the time below which starting a program is a large part of it.
const shortRun = .020

// doubtfulTimes says that times are too short to mean much, or that CPU time is but a
// small part of what a user waits for; empty if neither is so.
func doubtfulTimes(r *trial.Report) string {
	least := map[string]float64{}
	for _, l := range r.Lanes {
		a, isA := l.A.(trial.Spread)
		b, isB := l.B.(trial.Spread)
		if isA && isB {
			least[l.Lane] = min(a.Median, b.Median)
		}
	}
	cpu, wall := least[trial.LaneCPU], least[trial.LaneWall]
	if wall == 0 {
		return ""
	}
	// Where others want the CPUs too, a program that never waits has its part of them.
	part := 1.0
	if n := r.Noise; n != nil && n.Load != nil && *n.Load > float64(n.CPUs) {
		part = float64(n.CPUs) / *n.Load
	}
	decides := least[r.Metric]
	switch {
	case r.Metric == trial.LaneCPU && wall >= shortRun && cpu < part*wall/2:
		return fmt.Sprintf("a run has %s of CPU time in %s: what it waits for counts by --metric wall alone", compare.Duration(cpu), compare.Duration(wall))
	case decides < shortRun:
		of := map[string]string{trial.LaneCPU: " of CPU time"}[r.Metric]
		return fmt.Sprintf("a run takes %s%s: starting it is a large part of that; give it more to do", compare.Duration(decides), of)
	}
	return ""
}

// writeTrial prints a trial as text: the sentence first.
func writeTrial(w io.Writer, r *trial.Report) error {
	style := term.StyleFor(w)
	fmt.Fprintln(w, style.Bold(r.Sentence()))
	for i := range r.Lanes {
		if text := r.Lanes[i].Text(); text != "" {
			fmt.Fprintln(w, text)
		}
	}
	if text := r.Noise.Text(); text != "" {
		fmt.Fprintln(w, text)
	}
	for _, h := range r.Hints {
		fmt.Fprintf(w, "%s %s\n", style.Warn("note:"), h)
	}
	_, err := fmt.Fprintf(w, "seed %d\n", r.Seed)
	return err
}
