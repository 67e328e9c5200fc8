package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/hw/sysfs"
	"github.com/isobath/isobath/internal/memory/trial"
	"github.com/isobath/isobath/internal/record"
	"github.com/isobath/isobath/internal/record/model"
	"github.com/isobath/isobath/internal/record/pmu"
)

// recording is what every kind of recording needs to know.
type recording struct {
	out     string // the run to write; made from the program's name if empty
	force   bool   // replace a run of that name
	command []string
	trial   string // where in a trial the run belongs, as JSON; set by ab
}

// output is the run to write. Under a launcher of MPI programs every rank has
// its own: rankN, or what %r in the name becomes.
func (r recording) output() string {
	rank, ranked := record.Rank()
	switch {
	case r.out != "" && ranked:
		return strings.ReplaceAll(r.out, "%r", strconv.Itoa(rank))
	case r.out != "" || len(r.command) == 0:
		return r.out
	case ranked:
		return "rank" + strconv.Itoa(rank) + run.Suffix
	}
	return filepath.Base(r.command[0]) + run.Suffix
}

// samplingFlags are the flags of recording samples, which --refs and --mpi do
// not have.
type samplingFlags struct {
	mode      string
	rate      int
	period    uint64
	latency   int
	cpus      string
	pid       int
	group     string
	all       bool
	duration  time.Duration
	last      time.Duration
	children  bool
	heap      bool
	stacks    bool
	kernel    bool
	threshold int64
	model     string
	live      liveFlags
}

func newRecord() *cobra.Command {
	var (
		rec      recording
		sampling samplingFlags
		refs     refsFlags
		mpi      mpiFlags
		wantRefs bool
		wantMPI  bool
		samples  bool
		repeat   int
		pair     bool
		kinds    = map[string]string{} // of recording that have a flag, by its name
	)
	cmd := &cobra.Command{
		Use:   "record [-o RUN] [flags] -- CMD [ARG...]",
		Short: "Record a program: samples of its memory accesses, every reference, or its messages",
		Long: `Record a program. Without --refs or --mpi its memory accesses are sampled: by
the hardware where it can (PEBS, IBS, SPE), and otherwise by a timer, with the
exact address of the access at or just before the interrupted instruction.
Nothing has to be rebuilt and no privilege is needed; 'isobath doctor' says
what this machine can do. The exit code is that of the program.

With --mpi --samples one run has both: the messages of an MPI program, and the
memory samples of every rank on this host, by the same clock.`,
		Example: `  isobath record -- ./heat 1024
  isobath record -o heat.isobath --rate 2000 --duration 10s -- ./heat 1024
  isobath record --pid 4711 --duration 30s -o server.isobath
  isobath record --cgroup system.slice/nginx.service --duration 30s
  isobath record --all --duration 10s -o machine.isobath
  isobath record --live -- ./solver 1000   # the page opens at once, and grows
  isobath record --last 30s -- ./server   # and 'kill -USR1' of isobath when it is slow
  mpirun -n 4 isobath record -- ./app && isobath import rank*.isobath -o all.isobath
  isobath record --repeat 8 --pair -o trial -- ./old -- ./new && isobath diff trial
  isobath record --refs --function sort -- ./bubble 100
  isobath record --mpi -- mpirun -n 4 ./ring
  isobath record --mpi --samples -- mpirun -n 4 ./app`,
		RunE: func(cmd *cobra.Command, args []string) error {
			rec.command = args
			kind := ofSamples
			switch {
			case wantRefs && wantMPI:
				return usagef("--refs and --mpi are two kinds of recording; choose one")
			case wantRefs && samples:
				return usagef("--refs and --samples are two kinds of recording; choose one")
			case wantRefs:
				kind = "--refs"
			case wantMPI && !samples:
				kind = "--mpi"
			}
			if err := misplaced(cmd, kinds, kind); err != nil {
				return err
			}
			switch {
			case len(args) == 0 && !sampling.attached():
				return usagef("record what? Give the program after --, or --pid N, --cgroup GROUP or --all")
			case pair && (wantRefs || wantMPI):
				return usagef("--pair records samples of two commands; --refs and --mpi record one")
			case sampling.live.on && wantMPI:
				return usagef("--live shows memory samples while they are recorded; it cannot be given together with --mpi")
			case pair:
				return recordPairs(cmd, rec, sampling, given(cmd, kinds), repeat, args)
			case repeat != 0:
				return usagef("--repeat belongs to --pair: record --repeat N --pair -- CMD_A -- CMD_B")
			case wantRefs:
				return recordRefs(cmd, rec, refs)
			case wantMPI && samples:
				return recordMPISamples(cmd, rec, sampling)
			case wantMPI:
				return recordMPI(cmd, rec, mpi)
			}
			return recordSamples(cmd, rec, sampling, nil)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows the program belongs to it
	flags.StringVarP(&rec.out, "output", "o", "", "the `run` to write; %r is the MPI rank (default: the program's name, or rankN, with .isobath)")
	flags.BoolVar(&rec.force, "force", false, "replace a run of that name")
	flags.StringVar(&rec.trial, "trial", "", "where in a trial the run belongs")
	if err := flags.MarkHidden("trial"); err != nil {
		panic(err) // the flag above
	}
	flags.BoolVar(&wantRefs, "refs", false, "record every memory reference of a region")
	flags.BoolVar(&pair, "pair", false, "record two commands in pairs, in random order: -- CMD_A -- CMD_B; -o is then a folder (default trial)")
	flags.IntVar(&repeat, "repeat", 0, "with --pair: how many `pairs` (default 8)")
	flags.BoolVar(&wantMPI, "mpi", false, "record the messages of an MPI program")
	flags.BoolVar(&samples, "samples", false, "record samples, as without --refs and --mpi; with --mpi: both, of every rank, in one run")
	add := func(kind string, f func(*cobra.Command)) {
		had := maps.Clone(kinds)
		flags.VisitAll(func(f *pflag.Flag) { had[f.Name] = "" })
		f(cmd)
		flags.VisitAll(func(f *pflag.Flag) {
			if _, ok := had[f.Name]; !ok {
				kinds[f.Name] = kind
			}
		})
	}
	add(ofSamples, sampling.add)
	add("--refs", refs.add)
	add("--mpi", mpi.add)
	return cmd
}

// ofSamples is the kind of recording without a flag of its own.
const ofSamples = "samples"

// misplaced reports a flag that only another kind of recording has: it would do
// nothing.
func misplaced(cmd *cobra.Command, kinds map[string]string, kind string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch of := kinds[f.Name]; {
		case of == "" || of == kind || err != nil:
		case kind == ofSamples:
			err = usagef("--%s belongs to %s; give that too", f.Name, of)
		default:
			err = usagef("--%s belongs to recordings of %s and means nothing with %s", f.Name, strings.TrimPrefix(of, "--"), kind)
		}
	})
	return err
}

func (f *samplingFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "auto", "how to sample: auto, pmu or timer")
	flags.IntVar(&f.rate, "rate", 0, "samples a `second` and CPU (default 1000)")
	flags.Uint64Var(&f.period, "period", 0, "one sample every `N` events, in place of --rate")
	flags.IntVar(&f.latency, "latency-threshold", 0, "sample loads of at least this many `cycles` (hardware only)")
	flags.StringVar(&f.cpus, "cpu", "", "sample on these `CPUs` only, such as 0-3,8")
	flags.IntVar(&f.pid, "pid", 0, "attach to this running `process`")
	flags.StringVar(&f.group, "cgroup", "", "record the processes of this control `group` and of those below it: its folder, or its name in /proc/PID/cgroup")
	flags.BoolVar(&f.all, "all", false, "record every process of the machine, where that is allowed")
	flags.DurationVar(&f.duration, "duration", 0, "stop recording after this `time`")
	flags.DurationVar(&f.last, "last", 0, "keep only the last `time` of the recording; SIGUSR1 (without a program also Enter) writes it too, while the recording goes on")
	f.live.add(cmd)
	flags.BoolVar(&f.children, "children", true, "record child processes too")
	flags.StringVar(&f.model, "model", "", "estimate levels of timer samples for the machine of this `topology` (XML of lstopo), or local for this one; they are marked as modelled")
	flags.BoolVar(&f.stacks, "stacks", true, "record who called, with every sample")
	flags.BoolVar(&f.kernel, "kernel", false, "sample time in the kernel too, where that is allowed: page faults, system calls; by the timer")
	flags.BoolVar(&f.heap, "heap", true, "log allocations, to name heap objects")
	flags.Int64Var(&f.threshold, "heap-threshold", 4096, "log allocations of at least this many `bytes`")
}

// attached reports whether processes are recorded that are there already.
func (f *samplingFlags) attached() bool { return f.pid != 0 || f.group != "" || f.all }

// named is the run of processes that are there already.
func (f *samplingFlags) named() string {
	switch {
	case f.all:
		return "all" + run.Suffix
	case f.group != "":
		if name := filepath.Base(f.group); filepath.IsLocal(name) && name != "." {
			return name + run.Suffix
		}
		return "cgroup" + run.Suffix
	}
	return fmt.Sprintf("pid%d%s", f.pid, run.Suffix)
}

// recordSamples records samples, and the messages of an MPI program beside them
// unless those are nil.
func recordSamples(cmd *cobra.Command, rec recording, f samplingFlags, mpi *mpiMessages) error {
	opt, err := f.options(rec)
	if err != nil {
		return err
	}
	out := rec.output()
	if out == "" {
		out = f.named()
	}
	if err := free(out, rec.force); err != nil {
		return err
	}
	if f.rate == 0 && cmd.Flags().Changed("rate") {
		return usagef("--rate 0: want 1 to 100000 samples a second")
	}
	room, err := reserve(out)
	if err != nil {
		return err
	}
	defer room.release()
	if !f.children && isShell(rec.command) {
		opt.Say("--children=false: only " + filepath.Base(rec.command[0]) + " itself is recorded, not the programs it starts; name the program in its place")
	}
	opt.Journal = out + record.Unfinished
	if f.last > 0 {
		rec.keepLast(cmd.Context(), opt, out)
	}
	if mpi != nil {
		mpi.follow(opt)
	}
	page, err := f.live.begin(cmd, opt, out)
	if err != nil {
		return err
	}
	defer page.close()
	got, err := record.Record(cmd.Context(), opt)
	if err != nil {
		page.fail(err)
		return err
	}
	if rec.trial != "" {
		got.Run.Recording.Trial = new(run.Trial)
		if err := json.Unmarshal([]byte(rec.trial), got.Run.Recording.Trial); err != nil {
			return usagef("--trial: %v", err)
		}
	}
	status := got.Outcome.Status
	outlives := func() {
		if got.Outcome.Running != nil {
			say("the recording is over; the program goes on")
			status = got.Outcome.Running.Wait()
			got.Outcome.Running = nil
		}
	}
	if mpi != nil {
		outlives() // messages are recorded to its end
		mpi.join(got.Run)
	}
	room.release()
	if out, err = rec.saveSomewhere(cmd.Context(), got.Run, out); err != nil {
		say("what was recorded is kept in %s: 'isobath import %[1]s -o RUN' makes a run of it where there is room", opt.Journal)
		page.fail(err)
		if status != 0 { // the program's word comes first
			say("%v", err)
			return exitCode(status)
		}
		return err
	}
	got.Discard()
	warn(got.Run.Warnings)
	say("%s: %s", out, summary(got.Run))
	if err := page.end(cmd.Context(), out); err != nil {
		say("%v", err)
	}
	outlives()
	if status != 0 {
		return exitCode(status)
	}
	return nil
}

// keepLast keeps the end of the recording, and writes it at each SIGUSR1 beside the
// run that will be written in the end.
func (rec recording) keepLast(ctx context.Context, opt *record.Options, out string) {
	written := 0
	opt.Snapshot = func(r *run.Run) error {
		path := ""
		for path == "" || exists(path) {
			written++
			path = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(out, run.Suffix), written, run.Suffix)
		}
		if err := rec.save(ctx, r, path); err != nil {
			return err
		}
		say("%s: %s", path, summary(r))
		return nil
	}
	key := ""
	if len(opt.Command) == 0 && term.IsTerminal(os.Stdin) {
		opt.Keys, key = os.Stdin, "Enter here or "
	}
	say("the last %v are kept; %s'kill -USR1 %d' writes them while the recording goes on", opt.Last, key, os.Getpid())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// given are the flags of samples on the command line, as they are passed on.
func given(cmd *cobra.Command, kinds map[string]string) []string {
	var out []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if kinds[f.Name] == ofSamples {
			out = append(out, "--"+f.Name+"="+f.Value.String())
		}
	})
	return out
}

// recordPairs records two commands by turns, each with the same flags, for
// 'isobath diff' to compare.
func recordPairs(cmd *cobra.Command, rec recording, f samplingFlags, flags []string, pairs int, args []string) error {
	if rec.out == "" {
		rec.out = "trial"
	}
	if pairs == 0 && !cmd.Flags().Changed("repeat") {
		pairs = 8
	}
	switch {
	case f.attached() || f.duration != 0 || f.last != 0 || f.live.on:
		return usagef("--pid, --cgroup, --all, --duration, --last and --live mean nothing with --pair")
	case rec.force:
		return usagef("--force replaces one run; with --pair choose another folder by -o")
	case pairs < 1 || pairs > trial.MaxPairs:
		return usagef("--repeat %d: want 1 to %s", pairs, term.Counted(trial.MaxPairs, "pair"))
	}
	if _, err := f.options(rec); err != nil { // before anything runs
		return err
	}
	ab := abFlags{runs: pairs, fixed: true, metric: trial.LaneCPU, pin: -1, record: rec.out, sampling: flags}
	return ab.run(cmd, args)
}

// save writes what was recorded. An interrupt ends the recorded program, not the
// run of it: what is recorded by then is kept.
func (rec recording) save(ctx context.Context, r *run.Run, out string) error {
	return r.Write(context.WithoutCancel(ctx), out, rec.force)
}

// saveSomewhere writes the run, and where the disk has become full meanwhile, into
// the folder for temporary files: what was recorded cannot be had again.
func (rec recording) saveSomewhere(ctx context.Context, r *run.Run, out string) (string, error) {
	err := rec.save(ctx, r, out)
	if err == nil {
		return out, nil
	}
	dir, failed := os.MkdirTemp("", "isobath-saved-")
	if failed != nil {
		return "", err
	}
	other := filepath.Join(dir, filepath.Base(out))
	if failed := rec.save(ctx, r, other); failed != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	say("%v; the run is %s instead", err, other)
	return other, nil
}

// room is a file that keeps space free where the run will be written.
type room struct{ path string }

// leastRoom is the space of a small run.
const leastRoom = 4 << 20

// reserve finds out before the program runs whether a run can be written, and
// keeps some space for it.
func reserve(out string) (*room, error) {
	f, err := scratch.File(filepath.Dir(out), "room")
	if err != nil {
		return nil, fmt.Errorf("the run cannot be written to %s: %w", filepath.Dir(out), err)
	}
	r := &room{f.Name()}
	_, err = f.Write(make([]byte, leastRoom))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		r.release()
		return nil, fmt.Errorf("there is no room for a run in %s: %w", filepath.Dir(out), err)
	}
	return r, nil
}

func (r *room) release() { _ = os.Remove(r.path) }

// isShell reports whether a command is a shell, which starts others.
func isShell(command []string) bool {
	if len(command) == 0 {
		return false
	}
	switch filepath.Base(command[0]) {
	case "sh", "bash", "dash", "zsh", "ksh", "fish", "env", "time", "nice", "taskset", "numactl", "make":
		return true
	}
	return false
}

// free fails early where the run could not be written after the recording.
func free(out string, force bool) error {
	if _, err := os.Lstat(out); err == nil && !force {
		return fmt.Errorf("%s exists; choose another name with -o, or give --force to replace it", out)
	}
	if left, ok := record.UnfinishedAt(out + record.Unfinished); ok {
		if !force {
			return fmt.Errorf("%s holds a recording of that name that was never finished, or still runs: 'isobath open %[1]s' shows it; choose another name with -o, or give --force to remove it", left)
		}
		if err := os.RemoveAll(left); err != nil {
			return err
		}
	}
	if info, err := os.Stat(filepath.Dir(out)); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %s to write the run to", filepath.Dir(out))
	}
	return nil
}

// options checks the flags.
func (f *samplingFlags) options(rec recording) (*record.Options, error) {
	if err := f.live.check(); err != nil {
		return nil, err
	}
	opt := &record.Options{Command: rec.command, PID: f.pid, Group: f.group, All: f.all, Mode: record.Mode(f.mode), Duration: f.duration, Last: f.last, Heap: f.heap, Threshold: f.threshold,
		Sampling: pmu.Options{Rate: f.rate, Period: f.period, Latency: f.latency, Threads: !f.children, Stacks: f.stacks, Kernel: f.kernel},
		Say:      func(s string) { say("%s", s) }}
	switch {
	case opt.Mode != record.Auto && opt.Mode != record.Hardware && opt.Mode != record.Timer:
		return nil, usagef("--mode %q: want auto, pmu or timer", f.mode)
	case f.kernel && opt.Mode == record.Hardware:
		return nil, usagef("--kernel samples by the timer; leave out --mode pmu")
	case f.rate < 0 || f.rate > 100_000:
		return nil, usagef("--rate %d: want 1 to 100000 samples a second; the timer cannot do more", f.rate)
	case f.rate > 0 && f.period > 0:
		return nil, usagef("--rate and --period say the same thing in two ways; give one")
	case f.attached() && len(rec.command) > 0:
		return nil, usagef("--pid, --cgroup and --all record processes that are there already; they cannot be given together with a program")
	case f.pid != 0 && f.group != "" || f.all && (f.pid != 0 || f.group != ""):
		return nil, usagef("--pid, --cgroup and --all say whom to record; give one of them")
	case !f.children && (f.all || f.group != ""):
		return nil, usagef("--children=false: --cgroup and --all record all their processes, whosever children they are")
	case f.pid < 0, f.duration < 0, f.last < 0, f.latency < 0, f.threshold < 0:
		return nil, usagef("--pid, --duration, --last, --latency-threshold and --heap-threshold cannot be negative")
	}
	if f.cpus != "" {
		cpus, err := hw.ParseCPUs(f.cpus)
		if err != nil {
			return nil, usagef("--cpu: %w", err)
		}
		opt.CPUs = cpus
	}
	var err error
	if opt.Model, err = machine(f.model); err != nil {
		return nil, err
	}
	return opt, nil
}

// machine reads the topology to model. It fails before the program runs where
// the topology does not fit this machine.
func machine(name string) (*record.Machine, error) {
	if name == "" {
		return nil, nil
	}
	here, err := sysfs.Local()
	if err != nil && name == "local" {
		return nil, fmt.Errorf("--model local: %w", err)
	}
	out := &record.Machine{Name: "this machine", Topology: here}
	if name != "local" {
		if out.Topology, err = formats.OpenTopology(name); err != nil {
			return nil, fmt.Errorf("--model: %w", err)
		}
		out.Name = filepath.Base(name)
	}
	m, err := model.New(out.Topology)
	if err == nil && here != nil {
		err = m.Check(here.Root().CPUs)
	}
	if err != nil {
		return nil, fmt.Errorf("--model %s: %w", name, err)
	}
	return out, nil
}

// summary says what a recording holds, in one line.
func summary(r *run.Run) string {
	d := r.Recording
	text := fmt.Sprintf("%s in %.1f s", term.Counted(d.Samples, "sample"), d.Seconds)
	if l := d.Last; l != nil {
		text = fmt.Sprintf("%s from %.1f s to %.1f s after the recording began", term.Counted(d.Samples, "sample"), l.From, l.To)
	}
	if d.Addresses != nil && d.Samples > 0 {
		text += ", " + addresses(d)
	}
	if system := d.System / (d.User + d.System); d.InKernel == nil && d.Mode == "timer" && d.System > 0.1 && system > 0.1 {
		text += fmt.Sprintf("; %s of its processor time was in the kernel, which --kernel samples too", term.Percent(system))
	}
	return text + fmt.Sprintf("; 'isobath open %s' shows them", r.Path)
}

// addresses says how many samples have the address of the access they were taken
// at, and what the others may hide.
func addresses(d *run.Recording) string {
	var before, again, after, named, lost, kernel int
	for label, n := range d.Addresses {
		switch {
		case label == "kernel":
			kernel += n
		case strings.HasPrefix(label, "back"):
			before += n
		case strings.HasPrefix(label, "again"):
			again += n
		case label == "none: clobbered", label == "none: segment", label == "none: vector", label == "none: behind a copy":
			named += n
		case strings.HasPrefix(label, "none"):
			lost += n
		default:
			after += n
		}
	}
	program := d.Samples - kernel
	share := func(n int) string { return term.Percent(float64(n) / float64(max(program, 1))) }
	text := share(program-named-lost) + " with an address"
	if kernel > 0 {
		text = fmt.Sprintf("%s in the kernel (%s); of the others %s", term.Percent(float64(kernel)/float64(d.Samples)), ways(d), text)
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{before, "of the access before the interrupt"}, {again, "of the same instruction's next access"}, {after, "of the access after it"}} {
		if p.n > 0 {
			parts = append(parts, share(p.n)+" "+p.what)
		}
	}
	if len(parts) > 1 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	if named > 0 {
		text += fmt.Sprintf("; %s have the instruction but no address, so their objects look smaller than they are", share(named))
	}
	if lost > 0 {
		text += fmt.Sprintf("; %s are lost: no access is near or it is not known which, so some objects may look smaller than they are", share(lost))
	}
	return text
}

// ways says why the kernel ran, the most frequent three.
func ways(d *run.Recording) string {
	names := slices.SortedFunc(maps.Keys(d.InKernel), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.InKernel[b], d.InKernel[a]), cmp.Compare(a, b))
	})
	var words []string
	for _, name := range names[:min(len(names), 3)] {
		words = append(words, fmt.Sprintf("%s %s", name, term.Percent(float64(d.InKernel[name])/float64(d.Samples))))
	}
	if more := len(names) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}
