package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/code/unwind"
	"github.com/isobath/isobath/internal/record/pyframe"
	"github.com/isobath/isobath/internal/record/sampler"
)

// Before 3.12 Python cannot say which functions it runs, and they are on no stack that
// the kernel copies. Its frames are read of the thread itself, while it stands
// still: soon after a sample of the timer its thread is stopped for a moment, and that
// moment takes the place of the sample, with registers, stack and frames that
// belong together.

// moment is when a thread was looked at.
type moment struct {
	tid  int32
	time uint64
}

// python is the interpreter of a process.
type python struct {
	reader *pyframe.Reader // nil while it is looked for, and where there is none
	child  bool            // of ours
	minor  int
	barred bool           // the kernel lets us not look; of who empties the rings
	early  int            // samples before it was found
	why    map[string]int // samples without frames, by the reason
	whole  int            // samples with frames
}

// pythons are the interpreters of all processes. The frames of a moment wait for
// the sample of it.
type pythons struct {
	mu     sync.Mutex
	of     map[int32]*python
	ended  []*python      // of programs that others took the place of
	read   map[int32]bool // processes that have, or had, an interpreter that can be read
	active int            // interpreters that can be read
	taken  map[moment]*pyframe.Stack
	files  *symbol.Files
	tasks  []*parallel.Task
	looker
}

// mostTaken bounds what waits: samples are handed on some times a second. Of
// processes without an interpreter mostWithout are known, before all are looked at anew.
const (
	mostTaken   = 1 << 14
	mostWithout = 1 << 14
)

func newPythons(files *symbol.Files) *pythons {
	return &pythons{files: files, of: map[int32]*python{}, read: map[int32]bool{}, taken: map[moment]*pyframe.Stack{}}
}

// Looks reports whether there is an interpreter that can be read.
func (p *pythons) Looks() bool {
	p.late()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.active > 0
}

// Exec forgets the interpreter of a process that began, or began another program.
func (p *pythons) Exec(pid uint32) { p.forget(int32(pid)) }

func (p *pythons) forget(pid int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.of[pid]; known != nil {
		if known.reader != nil {
			p.active--
			p.ended = append(p.ended, known)
		}
		delete(p.of, pid)
	}
}

// loaded says that a process mapped a file: one that holds an interpreter may have
// come after the process was looked at.
func (p *pythons) loaded(pid int32, file string) {
	if p == nil || !pyframe.MayHold(file) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.of[pid]; known != nil && known.reader == nil {
		delete(p.of, pid)
	}
}

// find returns the interpreter of a process. One that was never seen is looked at
// beside: reading a program takes longer than samples may wait.
func (p *pythons) find(pid int32) *python {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.of[pid]
	if known == nil {
		known = &python{}
		if len(p.of) >= mostWithout {
			maps.DeleteFunc(p.of, func(_ int32, other *python) bool { return other.reader == nil })
		}
		p.of[pid] = known
		p.tasks = append(slices.DeleteFunc(p.tasks, ended), parallel.Start(context.Background(), func(context.Context) error {
			p.identify(pid, known)
			return nil
		}))
	}
	if known.reader == nil {
		known.early++
		return nil
	}
	return known
}

// reads reports whether the frames of a process were read, as far as that was possible:
// without says then what is missing.
func (p *pythons) reads(pid int32) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read[pid]
}

// ended reports whether a task is over.
func ended(t *parallel.Task) bool {
	select {
	case <-t.Done():
		return true
	default:
		return false
	}
}

// identify looks for an interpreter among what a process has mapped.
func (p *pythons) identify(pid int32, known *python) {
	list, err := sampler.Mappings(int(pid))
	if err != nil {
		return
	}
	for i := range list {
		m := &list[i]
		if m.Data || !pyframe.MayHold(m.Name) {
			continue
		}
		found, err := p.interpreter(pid, &symbol.Mapping{Start: m.Start, End: m.Start + m.Len, Offset: m.Offset, Path: m.Name, Exec: true})
		if errors.Is(err, pyframe.ErrNone) {
			continue
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if err == nil && p.of[pid] == known {
			known.reader, known.minor, known.child = pyframe.NewReader(found), found.Minor, childOfOurs(pid)
			p.active++
			p.read[pid] = true
		}
		return
	}
}

// interpreter finds the interpreter of a mapping. Its file is the one that its
// process sees.
func (p *pythons) interpreter(pid int32, m *symbol.Mapping) (*pyframe.Interpreter, error) {
	path := fmt.Sprintf("/proc/%d/root%s", pid, m.Path)
	theirs, err := os.Stat(path)
	if ours, failed := os.Stat(m.Path); err != nil || failed == nil && os.SameFile(theirs, ours) {
		path = m.Path
	}
	b, err := p.files.Open(path, "")
	if err != nil {
		return nil, err
	}
	bias, ok := b.Bias(m)
	if !ok {
		return nil, fmt.Errorf("%s is not loaded as it is", m.Path)
	}
	found, err := pyframe.Find(b)
	if err != nil {
		return nil, err
	}
	return found.At(bias), nil
}

// childOfOurs reports whether a process is our own child.
func childOfOurs(pid int32) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	var state string
	var parent int
	_, err = fmt.Sscan(rest, &state, &parent)
	return err == nil && parent == os.Getpid()
}

// script is what a thread ran in Python at a sample, as addresses that stand for
// functions, in the groups that one run of the interpreter's loop has.
type script struct {
	groups [][]uint64
	runs   []uint64          // of all groups, where they are on the stack; nil if that is not known
	looped func(uint64) bool // reports whether an address is in the loop
}

// scriptOf takes the frames of a sample; nil if there are none.
func (c *collector) scriptOf(s *perfevent.Sample) *script {
	stack, looped := c.pythons.stackAt(moment{int32(s.TID), s.Time}, int32(s.PID))
	if stack == nil {
		return nil
	}
	out := &script{runs: stack.Runs, looped: looped, groups: [][]uint64{nil}}
	for _, f := range stack.Frames {
		last := len(out.groups) - 1
		if pc := c.scriptPC(f.Frame); pc != 0 && f.Function != "" {
			out.groups[last] = append(out.groups[last], pc)
		}
		if f.Outermost {
			out.groups = append(out.groups, nil)
		}
	}
	return out
}

// stackAt takes the frames of a moment.
func (p *pythons) stackAt(at moment, pid int32) (*pyframe.Stack, func(uint64) bool) {
	if p == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out, known := p.taken[at], p.of[pid]
	delete(p.taken, at)
	if out == nil || known == nil || known.reader == nil {
		return nil, nil
	}
	return out, known.reader.Runs
}

// misfit counts a sample whose two stacks do not belong together.
func (p *pythons) misfit(pid int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.of[pid]; known != nil {
		known.whole--
		known.without("the interpreter's frames and its stack did not fit", 1)
	}
}

// merge puts the functions of a script into the native callers of a sample, in place
// of the runs of the loop that run them. The sampled instruction itself stays. Misfit
// says that the two do not belong together.
func (s *script) merge(frames []unwind.Caller, complete bool) (chain []uint64, misfit bool) {
	group := s.groupOf(frames, complete)
	if group == nil {
		return nil, true
	}
	next := 0
	for i := range frames {
		if n := group[i]; n >= 0 {
			for ; next <= n; next++ { // one that was not seen in between goes before
				chain = append(chain, s.groups[next]...)
			}
			continue
		}
		if i > 0 {
			chain = append(chain, returnAddress(&frames[i]))
		}
	}
	// The copy of a deep stack ends before its outermost frames do.
	for ; next < len(s.groups) && !complete; next++ {
		chain = append(chain, s.groups[next]...)
	}
	return chain, false
}

// groupOf says which native frame is which run of the loop, -1 for other frames; nil
// if that does not fit.
func (s *script) groupOf(frames []unwind.Caller, complete bool) []int {
	out := make([]int, len(frames))
	for i := range out {
		out[i] = -1
	}
	if s.runs == nil {
		return s.byLoop(frames, complete, out)
	}
	n := 0
	for i := range frames[:max(len(frames)-1, 0)] {
		for ; n < len(s.runs) && s.runs[n] < frames[i+1].SP; n++ {
			if s.runs[n] < frames[i].SP || out[i] >= 0 {
				return nil
			}
			out[i] = n
		}
	}
	if complete && n < len(s.runs) {
		return nil
	}
	return out
}

// byLoop finds the runs by the address of the loop. The innermost one may have no
// frame of Python yet, or none any more.
func (s *script) byLoop(frames []unwind.Caller, complete bool, out []int) []int {
	groups := len(s.groups) - 1 // the last is empty
	var at []int
	for i := range frames {
		pc := frames[i].PC
		if i > 0 && !frames[i].Exact {
			pc--
		}
		if s.looped(pc) {
			at = append(at, i)
		}
	}
	if len(at) == groups+1 && at[0] == 0 {
		at = at[1:]
	}
	if len(at) > groups || complete && len(at) < groups {
		return nil
	}
	for n, i := range at {
		out[i] = n
	}
	return out
}

// count counts a sample, by why it has no frames.
func (p *pythons) count(known *python, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		known.whole++
	case !errors.Is(err, pyframe.ErrIdle):
		known.without(err.Error(), 1)
	}
}

// without counts samples that have no frames.
func (p *python) without(why string, samples int) {
	if p.why == nil {
		p.why = map[string]int{}
	}
	p.why[why] += samples
}

// finish waits for what was begun.
func (p *pythons) finish() {
	if p == nil {
		return
	}
	for _, t := range p.tasks {
		_ = t.Wait()
	}
}

// without are the sentences about samples of interpreters without frames.
func (p *pythons) without() []string {
	if p == nil {
		return nil
	}
	whole, bare, why := map[int]int{}, map[int]int{}, map[int]map[string]int{}
	for _, known := range slices.Concat(slices.Collect(maps.Values(p.of)), p.ended) {
		if known.reader != nil && known.early > 0 {
			known.without("the interpreter was not found yet", known.early)
			known.early = 0
		}
		whole[known.minor] += known.whole
		for reason, n := range known.why {
			bare[known.minor] += n
			if why[known.minor] == nil {
				why[known.minor] = map[string]int{}
			}
			why[known.minor][reason] += n
		}
	}
	var out []string
	for _, minor := range slices.Sorted(maps.Keys(bare)) {
		all := whole[minor] + bare[minor]
		if all < leastSamples || float64(bare[minor]) < worthSaying*float64(all) {
			continue
		}
		reasons := slices.SortedFunc(maps.Keys(why[minor]), func(a, b string) int {
			return cmp.Or(why[minor][b]-why[minor][a], strings.Compare(a, b))
		})
		for i, r := range reasons {
			reasons[i] = fmt.Sprintf("%s: %s", term.Thousands(why[minor][r]), r)
		}
		out = append(out, fmt.Sprintf("%s of %s samples in Python 3.%d have no function of the script (%s)", term.Thousands(bare[minor]), term.Thousands(all), minor, strings.Join(reasons, "; ")))
	}
	return out
}

// scripts numbers functions and lines of scripts.
type scripts struct {
	numbers map[symbol.Frame]int
	frames  []symbol.Frame
}

// mostScripts bounds how many are kept.
const mostScripts = 1 << 20

// scriptPC is the address that stands for a function of a script in chains, as if
// it were behind a call; 0 if there is no room for more.
func (c *collector) scriptPC(f symbol.Frame) uint64 {
	n, ok := c.scripts.numbers[f]
	if !ok {
		if len(c.scripts.frames) == mostScripts {
			return 0
		}
		n = c.addScript(f)
		c.note(entry{Script: &f})
	}
	return symbol.InterpretedPC(n) + 1
}

func (c *collector) addScript(f symbol.Frame) int {
	n := len(c.scripts.frames)
	if c.scripts.numbers == nil {
		c.scripts.numbers = map[symbol.Frame]int{}
	}
	c.scripts.numbers[f] = n
	c.scripts.frames = append(c.scripts.frames, f)
	return n
}
