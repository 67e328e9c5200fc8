package replay

import (
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/reuse"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// LevelCounts is what happened at one level.
type LevelCounts struct {
	Misses            uint64 // lines fetched
	MissingReferences uint64 // references that fetched at least one
	First             uint64 // misses on a line this cache had never been asked for
	Full              uint64 // misses of a fully associative cache of this size on the same stream
	Prefetchable      uint64 // misses that a stride prefetcher could have hidden
	// Frames is the least and most misses with pages in random frames of memory;
	// equal to Misses where the frame does not choose the set.
	Frames [2]uint64
}

// Conflict is the misses a fully associative cache of this size would not have.
// It may be negative.
func (l *LevelCounts) Conflict() int64 { return int64(l.Misses) - int64(l.Full) }

// Survey runs references through a machine and keeps, beyond the counts, why
// they missed and for whom.
type Survey struct {
	*Caches
	Levels []LevelCounts
	// All is the misses of everything, Groups those of each group.
	All       Tally
	Groups    []Tally
	GroupRefs []uint64
	Used      uint64 // bytes touched of the lines fetched into the first level
	Fetched   uint64

	stacks  map[*cachesim.LRU]*reuse.Stack
	paths   [][]*reuse.Stack // the twins of the caches of each thread
	streams streams
	usage   []*cachesim.Usage
	away    *elsewhere
	homes   *homes
	plan    *Plan
	now     struct {
		group   uint32
		hidden  bool // the reference continues its stream
		missing []bool
		thread  int
		object  uint32
	}
}

// NewSurvey makes empty caches, and pages as a plan has them, which may be nil.
func NewSurvey(m *platform.Machine, numa Policy, plan *Plan) *Survey {
	if plan == nil {
		plan = &Plan{}
	}
	s := &Survey{Caches: NewCaches(m), plan: plan, Levels: make([]LevelCounts, len(m.Levels)), stacks: map[*cachesim.LRU]*reuse.Stack{}}
	s.missed = s.account
	s.now.missing = make([]bool, len(m.Levels))
	s.homes = newHomes(m, numa, plan.Homes)
	s.All = NewTally(len(m.Levels))
	s.away = newElsewhere(m, func(seed, levels int) {
		s.All.missElsewhere(seed, levels)
		s.Groups[s.now.group].missElsewhere(seed, levels)
	})
	return s
}

// Access runs one reference for a group.
func (s *Survey) Access(a *Access, group uint32) {
	s.Pieces(a, []Piece{{a.Addr, uint32(a.Size)}}, group)
}

// Pieces runs one reference, whose bytes lie where the pieces say, for a group.
func (s *Survey) Pieces(a *Access, pieces []Piece, group uint32) {
	p := s.path(int(a.Thread))
	for int(group) >= len(s.Groups) {
		s.Groups = append(s.Groups, NewTally(len(s.Levels)))
		s.GroupRefs = append(s.GroupRefs, 0)
	}
	s.GroupRefs[group]++
	s.References++
	s.now.group, s.now.thread, s.now.object = group, int(a.Thread), a.Object
	clear(s.now.missing)
	s.usePages(s.plan, a.Object)
	for i, piece := range pieces {
		if i == 0 {
			s.now.hidden = s.streams.follow(int(a.Thread), a.Code, piece.Addr)
		}
		s.touch(a, piece)
		s.lookFirst(piece)
		s.piece(p, piece.Addr, piece.Size)
	}
	for i, m := range s.now.missing {
		if m {
			s.Levels[i].MissingReferences++
		}
	}
}

// Restart forgets what was counted, and keeps what is in the caches.
func (s *Survey) Restart() {
	s.Counts = Counts{Misses: make([]uint64, len(s.Levels))}
	s.Levels = make([]LevelCounts, len(s.Levels))
	s.Groups, s.GroupRefs = nil, nil
	s.Used, s.Fetched = 0, 0
	s.All.clear()
	s.homes = newHomes(s.machine, s.homes.policy, s.plan.Homes)
}

// path returns the caches of a thread, whose twins are there too.
func (s *Survey) path(thread int) *path {
	p := s.thread(thread)
	for len(s.paths) <= thread {
		var own []*reuse.Stack
		for _, c := range s.thread(len(s.paths)).levels {
			if s.stacks[c] == nil {
				s.stacks[c] = reuse.NewStack()
			}
			own = append(own, s.stacks[c])
		}
		s.paths = append(s.paths, own)
	}
	return p
}

// touch counts the bytes used of lines in the first level.
func (s *Survey) touch(a *Access, piece Piece) {
	for len(s.usage) <= int(a.Thread) {
		s.usage = append(s.usage, cachesim.NewUsage(s.machine.Levels[0].Geometry(), func(_ uint32, n, _ int) {
			s.Fetched++
			s.Used += uint64(n)
		}))
	}
	s.usage[a.Thread].Access(piece.Addr, piece.Size, 0)
}

// lookFirst asks the fully associative twin of the first level.
func (s *Survey) lookFirst(p Piece) {
	end := (p.Addr + uint64(p.Size) - 1) >> s.shift
	for line := p.Addr >> s.shift; line <= end; line++ {
		s.look(0, line)
	}
}

// look asks the fully associative twin of a cache.
func (s *Survey) look(level int, line uint64) {
	l := &s.machine.Levels[level]
	d, _ := s.paths[s.now.thread][level].Access(line)
	if d == reuse.First {
		s.Levels[level].First++
		s.Levels[level].Full++
	} else if int(d) >= l.Size/l.Line {
		s.Levels[level].Full++
	}
}

// account counts a line that the levels below one missed.
func (s *Survey) account(line uint64, level int) {
	thread := s.now.thread
	s.All.miss(level, s.now.hidden)
	s.Groups[s.now.group].miss(level, s.now.hidden)
	for i := range level {
		s.now.missing[i] = true
		if i+1 < len(s.Levels) {
			s.look(i+1, s.at(i+1, line))
		}
	}
	if level == len(s.Levels) {
		s.homes.fetch(thread, line<<s.shift, s.now.object)
	}
	s.away.fetch(thread, line, s.pageShift)
}

// Finish ends the survey.
func (s *Survey) Finish() {
	for _, u := range s.usage {
		u.Flush()
	}
	frames := s.All.Frames(s.machine)
	for i := range s.Levels {
		s.Levels[i].Misses, s.Levels[i].Prefetchable, s.Levels[i].Frames = s.All.Misses[i], s.All.Hidden[i], frames[i]
	}
}
