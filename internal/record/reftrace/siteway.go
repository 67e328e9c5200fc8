package reftrace

import (
	"slices"

	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

// siteWay is the way from a place in the code to a site, without another site
// between.
type siteWay struct {
	blocks []uint64 // that are entered on the way
	calls  []uint64 // where calls on the way return to, outermost first
	found  bool     // it leads to the site; else to the end of the function, if
	ends   bool     // this is set
	walked bool     // it was found and gone
}

// wayStep is one block of a search.
type wayStep struct {
	start  uint64
	before *wayStep
	back   uint64 // where the call that led here returns to; 0 for others
}

func (s *wayStep) way(found bool) *siteWay {
	way := &siteWay{found: found, ends: !found}
	for ; s.before != nil; s = s.before {
		way.blocks = append(way.blocks, s.start)
		if s.back != 0 {
			way.calls = append(way.calls, s.back)
		}
	}
	slices.Reverse(way.blocks)
	slices.Reverse(way.calls)
	return way
}

// wayKey is a question for a way.
type wayKey struct {
	from, to uint64
	// callbacks says that functions without sites may call the function of the site.
	callbacks bool
}

// way finds the shortest way from an address to a site, or else to a return.
func (w *siteWalker) way(key wayKey) *siteWay {
	if known, ok := w.ways[key]; ok {
		return known
	}
	found := w.search(key)
	w.ways[key] = found
	return found
}

func (w *siteWalker) search(key wayKey) *siteWay {
	from, to := key.from, key.to
	queue := []*wayStep{{start: from}}
	seen := map[uint64]bool{}
	var ends *siteWay
	for len(queue) > 0 && len(seen) < maxWay {
		at := queue[0]
		queue = queue[1:]
		pc, last, met := w.scan(at.start)
		if met != 0 {
			if met == to {
				return at.way(true)
			}
			continue // another site
		}
		add := func(start, back uint64) {
			if start != 0 && (!seen[start] || back != 0) {
				seen[start] = true
				queue = append(queue, &wayStep{start: start, before: at, back: back})
			}
		}
		end := pc + last.length
		switch last.flow {
		case access.Jump:
			add(last.target, 0)
			if last.target == 0 && w.hasSites(w.functionStart(pc)) {
				add(w.jumpedTo(pc, to), 0)
			} else if last.target == 0 && ends == nil && !at.called() {
				ends = at.way(false) // into a library, which returns
			}
		case access.Branch:
			add(last.target, 0)
			add(end, 0)
		case access.Call:
			w.throughCall(key, last.target, end, add)
		case access.Return:
			if ends == nil && !at.called() {
				ends = at.way(false)
			}
		}
	}
	if ends == nil {
		ends = &siteWay{}
	}
	return ends
}

// called reports whether the search went into a function: its end is not that of
// the one it began in.
func (s *wayStep) called() bool {
	for ; s != nil; s = s.before {
		if s.back != 0 {
			return true
		}
	}
	return false
}

// scan goes straight on from an address to the site that it meets, or to the
// instruction that ends the block.
func (w *siteWalker) scan(pc uint64) (at uint64, last decoded, site uint64) {
	for range maxStraight {
		d := w.decode(pc)
		if d.site {
			return pc, d, pc + d.length
		}
		if d.flow != access.Straight {
			return pc, d, 0
		}
		pc += d.length
	}
	return pc, decoded{length: 1, flow: access.Return}, 0
}

// throughCall goes on at a call: into a function that has sites, past one that has
// none, or into the function of the site, which such a one may have called.
func (w *siteWalker) throughCall(key wayKey, target, back uint64, add func(start, back uint64)) {
	if target != 0 && w.hasSites(target) {
		add(target, back)
		return
	}
	if start := w.functionStart(key.to); (target == 0 || key.callbacks) && start != target && w.entry(start, key.to) {
		add(start, back)
	}
	add(back, 0)
}

// hasSites reports whether a function meets a site before it returns: such a call
// cannot be passed.
func (w *siteWalker) hasSites(start uint64) bool {
	if start == 0 {
		return false
	}
	has, ok := w.met[start]
	if !ok {
		has = w.meets(start)
		w.met[start] = has
	}
	return has
}

func (w *siteWalker) meets(start uint64) bool {
	queue, seen := []uint64{start}, map[uint64]bool{start: true}
	for len(queue) > 0 && len(seen) < maxWay/16 {
		pc, last, site := w.scan(queue[0])
		queue = queue[1:]
		if site != 0 {
			return true
		}
		for _, next := range []uint64{last.target, pc + last.length} {
			follows := last.flow == access.Branch || last.flow == access.Jump && next == last.target || last.flow == access.Call && next != last.target
			if follows && next != 0 && !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}

// functionStart is where the function that an address is in begins; 0 if unknown.
func (w *siteWalker) functionStart(pc uint64) uint64 {
	b, link := w.file(pc)
	if b == nil {
		return 0
	}
	l := b.Locate(link)
	if l.Start == 0 {
		return 0
	}
	return l.Start + pc - link
}

// entry reports whether a site is the first of the function that begins at an
// address.
func (w *siteWalker) entry(start, site uint64) bool {
	if start == 0 {
		return false
	}
	_, _, met := w.scan(start)
	return met == site
}

// jumpedTo is where a jump through a table or register goes if the site comes
// next: to another function, or to the block of the site in this one.
func (w *siteWalker) jumpedTo(from, to uint64) uint64 {
	start := w.functionStart(to)
	if w.entry(start, to) {
		return start
	}
	if start != 0 && start == w.functionStart(from) {
		return w.callBefore(to)
	}
	return 0
}

// thread makes blocks of the sites of one thread.
func (w *siteWalker) thread(t *flow.Thread) {
	c := t.Cursor(len(w.sites.sites))
	var stack []uint64 // where calls return to
	at, last := uint64(0), uint32(0)
	for range t.Length() {
		n, ok := c.Next()
		if !ok {
			return
		}
		to := w.sites.sites[n]
		if at == 0 {
			w.block(t.ID, w.begins(to))
		} else if way := w.direct(at, last, to); way != nil {
			for _, start := range way.blocks {
				w.encoder.Enter(t.ID, start)
			}
			stack = append(stack, way.calls...)
		} else {
			stack = w.move(t.ID, at, to, stack)
			w.walked(at, last, to)
		}
		at, last = to, n
	}
	if at != 0 && w.left {
		w.leave(t.ID, at, stack)
	}
}

// siteStep is a way that leads from one site to the next with no function ending
// between.
type siteStep struct {
	to  uint64
	way *siteWay
}

// direct returns the way to a site that no function ends on, if it was gone before:
// its blocks have their ends.
func (w *siteWalker) direct(at uint64, from uint32, to uint64) *siteWay {
	s := &w.steps[from]
	if s.to == to {
		return s.way
	}
	way := w.ways[wayKey{from: at, to: to}]
	if way == nil || !way.walked {
		return nil
	}
	*s = siteStep{to, way}
	return way
}

// walked notes that a step was made.
func (w *siteWalker) walked(at uint64, from uint32, to uint64) {
	if way := w.ways[wayKey{from: at, to: to}]; way != nil && way.found {
		way.walked = true
		w.steps[from] = siteStep{to, way}
	}
}

// leave goes on from the last site to the end of the region: all calls under way
// return.
func (w *siteWalker) leave(thread uint32, at uint64, stack []uint64) {
	for {
		way := w.way(wayKey{from: at})
		if !way.ends {
			return
		}
		w.blocks(thread, way)
		if len(stack) == 0 {
			return
		}
		at, stack = stack[len(stack)-1], stack[:len(stack)-1]
		w.block(thread, at)
	}
}

// begins is where the block of the first site of a thread begins: hooks of
// functions stand in the first block.
func (w *siteWalker) begins(site uint64) uint64 {
	start := w.functionStart(site)
	for pc := start; pc != 0 && pc < site; {
		d := w.decode(pc)
		if pc += d.length; pc == site {
			return start
		}
		if d.flow != access.Straight {
			break
		}
	}
	return w.callBefore(site)
}

// move goes on to the next site, out of functions that end before it.
func (w *siteWalker) move(thread uint32, at, to uint64, stack []uint64) []uint64 {
	for _, callbacks := range []bool{false, true} {
		if ways, depth, ok := w.plan(wayKey{at, to, callbacks}, stack); ok {
			for i, way := range ways {
				w.blocks(thread, way)
				if i < len(ways)-1 {
					w.block(thread, stack[len(stack)-1-i])
				}
			}
			return append(stack[:depth], ways[len(ways)-1].calls...)
		}
	}
	w.unexplained++
	w.goOn(thread, at)
	// Calls that are left without a return: the function of the site is one of those
	// under way.
	start := w.functionStart(to)
	for i := len(stack) - 1; i >= 0; i-- {
		if w.functionStart(stack[i]) == start {
			stack = stack[:i]
			break
		}
	}
	w.block(thread, w.callBefore(to))
	return stack
}

// goOn enters what is left of a compiler's block behind calls that return, where
// the way from its site is not known: an exception is made and written to before
// it is thrown. What can be left in the middle ends the compiler's block.
func (w *siteWalker) goOn(thread uint32, at uint64) {
	for {
		pc, last, site := w.scan(at)
		if site != 0 || last.flow != access.Call || w.hasSites(last.target) {
			return
		}
		if at = pc + last.length; !w.touches(at) {
			return
		}
		w.block(thread, at)
	}
}

// touches reports whether code makes references before it meets a site or the end
// of its block.
func (w *siteWalker) touches(pc uint64) bool {
	for range maxStraight {
		d := w.decode(pc)
		if h := w.hooks[pc]; h.loads || h.stores {
			return true
		}
		if d.site || d.flow != access.Straight {
			return false
		}
		pc += d.length
	}
	return false
}

// plan finds the ways to a site: to the ends of functions under way, then to the
// site. It returns how many calls are left under way.
func (w *siteWalker) plan(key wayKey, stack []uint64) (ways []*siteWay, depth int, ok bool) {
	for {
		way := w.way(key)
		ways = append(ways, way)
		if way.found {
			return ways, len(stack), true
		}
		if !way.ends || len(stack) == 0 {
			return nil, 0, false
		}
		key.from, stack = stack[len(stack)-1], stack[:len(stack)-1]
	}
}

func (w *siteWalker) blocks(thread uint32, way *siteWay) {
	for _, start := range way.blocks {
		w.block(thread, start)
	}
}

// block enters a block as a whole.
func (w *siteWalker) block(thread uint32, start uint64) {
	w.encoder.Enter(thread, start)
	if !w.reached[start] {
		w.reached[start] = true
		w.encoder.Reach(thread, w.straight(start))
	}
}
