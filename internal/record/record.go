package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/redact"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/hw/sysfs"
	"github.com/isobath/isobath/internal/record/pmu"
	"github.com/isobath/isobath/internal/record/sampler"
)

// Mode says which ways of sampling to try.
type Mode string

// The modes.
const (
	Auto     Mode = "auto"  // hardware, else the timer
	Hardware Mode = "pmu"   // hardware or nothing
	Timer    Mode = "timer" // the timer even where hardware could
)

// Options say what to record.
type Options struct {
	Command []string
	PID     int
	// Group is a control group whose processes are recorded in place of a command,
	// All means every process of the machine.
	Group    string
	All      bool
	Mode     Mode
	Sampling pmu.Options
	CPUs     []int
	Duration time.Duration
	// Last, if it is not 0, is how much of the end of the recording is kept.
	Last time.Duration
	// Snapshot is given a run of what is kept at each SIGUSR1, which the program
	// then does not get; nil means that it gets them.
	Snapshot func(*run.Run) error
	// Keys, if it is not nil, is a terminal where Enter does the same, for a process
	// that was there before.
	Keys *os.File
	// Stop ends the recording when it is closed; the program goes on.
	Stop <-chan struct{}
	// Watch sees the recording grow; nil if nobody looks.
	Watch *Watch
	// Model is the machine for which levels of timer samples are estimated; nil
	// leaves them absent.
	Model *Machine
	// Heap logs allocations of at least Threshold bytes.
	Heap      bool
	Threshold int64
	// Ring is how many bytes each ring buffer has; 0 means as many as allowed.
	Ring int
	// Journal is the folder for what is known while the program runs; see
	// Unfinished. Empty is one for temporary files.
	Journal string
	// Start, if set, is given the environment that the command would have and
	// returns the command to run and its environment.
	Start func(environ []string) (command, env []string)
	// Ranks, if set, says when the recording is over which process is which rank of
	// an MPI program, by its id.
	Ranks func() map[int]int
	// Say is told what a user wants to know while the program runs.
	Say func(sentence string)
}

// Machine is a hierarchy to model.
type Machine struct {
	Name     string // where its description comes from
	Topology *hw.Topology
}

// Recorded is a finished recording.
type Recorded struct {
	Run *run.Run
	// Outcome says how the program and the recording ended.
	Outcome *sampler.Outcome
	journal string
}

// Discard removes what was kept while the program ran. Call it when the run is
// written: until then it is what remains if that fails.
func (r *Recorded) Discard() { _ = os.RemoveAll(r.journal) }

// Record runs the program or attaches to it.
func Record(ctx context.Context, opt *Options) (*Recorded, error) {
	plans, refusal := plansFor(opt)
	if len(plans) == 0 {
		return nil, refusal
	}
	work := newWorkspace(ctx, opt)
	defer work.remove()
	files := &symbol.Files{}
	defer files.Close()
	c := newCollector(files)
	defer c.code.close()
	var err error
	if c.journal, err = newJournal(opt.Journal); err != nil {
		return nil, err
	}
	defer c.journal.close()
	if opt.Journal == "" {
		defer os.RemoveAll(c.journal.dir)
	}
	if opt.Last > 0 {
		if err := c.journal.keepLast(opt.Last); err != nil {
			_ = os.RemoveAll(c.journal.dir)
			return nil, err
		}
	}
	var write *writer
	var asked func()
	if opt.Snapshot != nil {
		write = newWriter(ctx, c.journal.dir, opt)
		asked = write.ask
	}
	work.keepFor(c.journal.dir)
	var why []string
	var watched *watching
	command, env := opt.Command, work.environ()
	if opt.Start != nil {
		command, env = opt.Start(env)
	}
	touch, tracking := pmu.Touches(&opt.Sampling), pmu.Tracking(&opt.Sampling)
	out, err := sampler.Record(ctx, &sampler.Options{
		Command: command, PID: opt.PID, Group: opt.Group, All: opt.All, Env: env, Plans: plans, Touch: &touch, Tracking: &tracking, CPUs: opt.CPUs, Ring: opt.Ring, Duration: opt.Duration, Asked: asked, Keys: opt.Keys, Stop: opt.Stop, Instants: c.instants(opt),
		Chosen: func(p *pmu.Plan, refused []error) {
			if refusal != nil {
				why = append(why, refusal.Error())
			}
			for _, r := range refused {
				why = append(why, r.Error())
			}
			c.about = aboutOf(opt, p, work, why)
			c.journal.line(c.about)
			c.journal.flush()
			opt.Say(modeLine(p, why))
			if opt.Watch != nil {
				watched = opt.Watch.begin(ctx, c.journal.dir, opt.Say)
			}
			if opt.Model != nil && p.Hardware() {
				opt.Say("the hardware measures levels: --model is not used")
			}
		},
	}, c)
	err = errors.Join(err, watched.finish())
	c.pythons.finish()
	if write != nil {
		err = errors.Join(err, write.finish())
	}
	if err != nil {
		_ = os.RemoveAll(c.journal.dir)
		return nil, err
	}
	release, err := c.load()
	if err != nil {
		return nil, err
	}
	defer release()
	if c.last != nil {
		c.countLosses(&out.Losses)
		c.kernel, c.other = 0, 0 // nobody knows how many of them are of the end
	}
	if opt.Ranks != nil {
		c.ranks = opt.Ranks()
		c.objects.Apart = len(c.ranks) > 0
	}
	// What was recorded is kept even if the user is impatient now.
	r, err := c.run(context.WithoutCancel(ctx), opt, out, work, why)
	if err != nil {
		return nil, err
	}
	r.Warnings = append(r.Warnings, c.pythons.without()...)
	if n := c.journal.dropped; c.journal.err != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s %s missing at the end: %s could not be written any more (%v)", term.Counted(n, "sample"), term.Agree(n, "is", "are"), c.journal.dir, c.journal.err))
	}
	return &Recorded{Run: r, Outcome: out, journal: c.journal.dir}, nil
}

// aboutOf is what is known before the program runs.
func aboutOf(opt *Options, p *pmu.Plan, work *workspace, why []string) *head {
	e := &p.Events[len(p.Events)-1]
	h := &head{Version: journalVersion, Layout: layout(), Recorder: os.Getpid(), Command: redact.Args(opt.Command), PID: opt.PID, Group: opt.Group, All: opt.All, Mode: p.Name, What: p.What, Event: e.Name,
		Period: e.Attr.Period, Latency: opt.Sampling.Latency, Why: why, Started: time.Now(), Clock: sampler.ClockOffset(), Machine: system(), Variables: environment(os.Environ()),
		Heap: workspaceHead{Folder: work.dir, Library: work.library, Threshold: work.threshold, Absent: work.absent}}
	h.Host, _ = os.Hostname()
	h.Last = opt.Last
	if n, ok := Rank(); ok {
		h.Rank = &n
	}
	return h
}

// plansFor lists the ways to sample, best first. The error says why the
// hardware cannot.
func plansFor(opt *Options) ([]pmu.Plan, error) {
	opt.Sampling.Arch = runtime.GOARCH
	var plans []pmu.Plan
	var refusal error
	if opt.Mode != Timer && !opt.Sampling.Kernel {
		plans, refusal = pmu.Hardware(os.DirFS("/"), &opt.Sampling)
	}
	if opt.Mode == Hardware {
		return plans, refusal
	}
	if opt.Sampling.Kernel {
		plans = append(plans, pmu.TimerPlan(&opt.Sampling))
	}
	program := opt.Sampling
	program.Kernel = false
	return append(plans, pmu.TimerPlan(&program)), refusal
}

// modeLine says in one line how samples are taken, and why not better.
func modeLine(p *pmu.Plan, why []string) string {
	line := "recording by " + p.What
	if len(why) > 0 {
		line += " (" + strings.Join(why, "; ") + ")"
	}
	return line
}

// run makes the run of what was collected.
func (c *collector) run(ctx context.Context, opt *Options, out *sampler.Outcome, work *workspace, why []string) (*run.Run, error) {
	c.order()
	c.faultAddresses()
	r := &run.Run{Manifest: run.Manifest{Version: run.Version, Kind: kind.Samples, Format: "record", Imported: out.Started.UTC().Truncate(time.Second)}}
	r.Origin = kind.Origin{Command: opt.Command, Time: out.Started.UTC().Format(time.RFC3339), Tool: "isobath record"}
	r.Origin.Host = c.about.Host
	r.Recording = describe(opt, out, c, why)
	t, err := opt.topology(&out.Plan)
	if err != nil {
		t = nil
		r.Warnings = append(r.Warnings, fmt.Sprintf("the hardware topology of this machine cannot be read: %v", err))
	} else {
		if r.Tree, err = json.Marshal(t); err != nil {
			return nil, err
		}
		r.TopologyData, r.Manifest.Topology = r.Tree, "topology.json"
	}
	m := work.read(c, r)
	c.dropOwn(work.dir)
	resolver := symbol.NewResolver(c.space, c.code.files, c.objects)
	var told []string
	resolver.Generated, told = c.generated(out.Started)
	r.Warnings = append(r.Warnings, told...)
	if err := c.tables(ctx, r, out, t, m, resolver); err != nil {
		return nil, err
	}
	if opt.modelled(&out.Plan) {
		if err := c.model(r, opt.Model); err != nil {
			return nil, err
		}
	}
	r.Warnings = append(r.Warnings, warnings(r.Recording, out)...)
	r.Warnings = append(r.Warnings, unnamed(r.Contents[0], r.Recording.Heap, c.pythons)...)
	r.Warnings = append(r.Warnings, resolver.Warnings(work.library)...)
	r.Recording.Modules = c.modules()
	r.FindOwnSources(sourceRoots(opt))
	return r, nil
}

// modelled reports whether levels are to be estimated: hardware measures them.
func (o *Options) modelled(p *pmu.Plan) bool { return o.Model != nil && !p.Hardware() }

// topology is the machine that samples are placed on: the modelled one, since
// its levels would mean nothing on another.
func (o *Options) topology(p *pmu.Plan) (*hw.Topology, error) {
	if o.modelled(p) {
		return o.Model.Topology, nil
	}
	return sysfs.Local()
}

func (c *collector) tables(ctx context.Context, r *run.Run, out *sampler.Outcome, t *hw.Topology, m *marks, resolver *symbol.Resolver) error {
	lost := c.lossLog()
	samples, err := c.samples(ctx, &out.Plan, t, m, lost, resolver)
	if err != nil {
		return err
	}
	r.Contents = []*table.Table{samples}
	if gaps, err := lost.Table(samples.Column("time").Base); err != nil {
		return err
	} else if gaps != nil {
		r.Contents = append(r.Contents, gaps)
	}
	if len(c.touches) > 0 {
		// Libraries that only touched pages need no lines: a resolver of its
		// own keeps their warnings apart.
		touches, err := c.touchTable(ctx, t, symbol.NewResolver(c.space, c.code.files, c.objects))
		if err != nil {
			return err
		}
		r.Contents = append(r.Contents, touches)
	}
	if allocated, err := c.allocated(&out.Plan, r.Recording.Heap); err != nil {
		return err
	} else if allocated != nil {
		r.Contents = append(r.Contents, allocated)
	}
	listing := symbol.NewListing()
	listing.Add(resolver)
	code, err := listing.Table()
	if code != nil {
		r.Contents = append(r.Contents, code)
	}
	return err
}

// describe fills in what the run says about its recording.
func describe(opt *Options, out *sampler.Outcome, c *collector, why []string) *run.Recording {
	e := &out.Plan.Events[len(out.Plan.Events)-1]
	d := &run.Recording{
		Group: opt.Group, All: opt.All, Mode: out.Plan.Name, Why: why, Event: e.Name, Period: e.Attr.Period, Weight: "accesses that the hardware chose",
		Ended: string(out.End), Status: out.Status, Seconds: out.Elapsed.Seconds(), User: out.User.Seconds(), System: out.System.Seconds(),
		Samples: len(c.rows), Touches: len(c.touches), Lost: out.Losses.Lost, Throttled: out.Losses.Throttled, Damaged: out.Losses.Damaged, Truncated: out.Losses.Truncated, LostTouches: out.Losses.Touches,
		Machine: c.about.Machine, Environment: c.about.Variables, Rank: c.about.Rank, Kernel: c.kernel, Other: c.other,
		ClockOffset: out.ClockOffset,
	}
	if out.Plan.Hardware() {
		d.Threshold = opt.Sampling.Latency
	}
	if c.last != nil {
		d.Last = c.last.describe(out)
	}
	if out.Signal != 0 {
		d.Signal = out.Signal.String()
	}
	if !out.Plan.Hardware() {
		d.Weight = "run time"
		d.Addresses = map[string]int{}
		for i := range c.rows {
			r := &c.rows[i]
			d.Addresses[r.label()]++
			if r.way != 0 {
				if d.InKernel == nil {
					d.InKernel = map[string]int{}
				}
				d.InKernel[c.kernelWords.text(r.way)]++
			}
		}
	}
	return d
}

// warnings are the sentences that a reader of the numbers needs.
func warnings(d *run.Recording, out *sampler.Outcome) []string {
	var w []string
	add := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	switch {
	case out.End == sampler.Killed:
		add("the program was ended by a signal (%s) after %.1f s; what it did until then is recorded", d.Signal, d.Seconds)
	case out.End == sampler.Interrupted:
		add("the recording was interrupted after %.1f s", d.Seconds)
	case out.End == sampler.Stopped:
		add("the recording was stopped after %.1f s; the program went on", d.Seconds)
	case out.End == sampler.TimeUp && d.Last != nil:
		add("the recording ended after %.1f s, as --duration said", d.Seconds)
	case out.End == sampler.TimeUp:
		add("only the first %.1f s are recorded, as --duration said", d.Seconds)
	}
	if l := d.Last; l != nil && l.From > 0 {
		add("this run holds what was sampled from %.1f s to %.1f s after the recording began, as --last said; what was before is gone, also who touched a page first then", l.From, l.To)
	}
	if d.Lost > 0 {
		add("%s %s lost because the buffers were full; counts are too low by that much. Use a lower --rate", term.Counted(d.Lost, "record"), term.Agree(d.Lost, "was", "were"))
	}
	if d.LostTouches > 0 {
		add("%s %s not recorded because their buffer was full: who touched a page first is not known for all of them. No sample is missing for that", term.Counted(d.LostTouches, "page fault"), term.Agree(d.LostTouches, "was", "were"))
	}
	if d.Throttled > 0 {
		add("the kernel paused sampling %s because it cost too much; use a lower --rate", term.Counted(d.Throttled, "time"))
	}
	if d.Truncated > 0 {
		add("the unit's own buffer was full %s and sampling paused until it was emptied; use a lower --rate", term.Counted(d.Truncated, "time"))
	}
	if d.Damaged > 0 {
		add("%s could not be read", term.Counted(d.Damaged, "record"))
	}
	if d.Samples == 0 {
		add("there are no samples: the program ran too short a time in user space. Use a higher --rate")
	}
	return w
}

// modules counts samples by the program or library they were taken in.
func (c *collector) modules() []run.Module {
	type key struct{ path, id string }
	counts := map[key]int{}
	for i := range c.rows {
		m := c.space.Find(int(c.rows[i].pid), c.rows[i].time, c.rows[i].ip)
		if m == nil {
			continue
		}
		k := key{path: m.Path}
		if b, err := c.code.files.Open(m.Path, ""); err == nil {
			k.id = b.BuildID
		}
		counts[k]++
	}
	out := make([]run.Module, 0, len(counts))
	for k, n := range counts {
		out = append(out, run.Module{Path: k.path, BuildID: k.id, Samples: n})
	}
	slices.SortFunc(out, func(a, b run.Module) int {
		if a.Samples != b.Samples {
			return b.Samples - a.Samples
		}
		return strings.Compare(a.Path, b.Path)
	})
	return out
}

// sourceRoots are the folders where sources are likely: here, and beside the
// program.
func sourceRoots(opt *Options) []string {
	roots := []string{"."}
	if len(opt.Command) > 0 {
		if dir := filepath.Dir(opt.Command[0]); dir != "." {
			roots = append(roots, dir)
		}
	}
	return roots
}
