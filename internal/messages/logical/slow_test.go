package logical

import (
	"testing"

	"github.com/isobath/isobath/internal/messages/trace"
)

// compareSlow computes partitions and steps again by the shortest path from
// their definitions, with reachability by search, and compares.
func compareSlow(t *testing.T, what string, s *Structure) {
	t.Helper()
	part := slowPartitions(s)
	theirs, ours := map[int]int32{}, map[int32]int{}
	for i, q := range part {
		if r, ok := theirs[q]; ok && r != s.Part[i] {
			t.Fatalf("%s: operations of one partition are in %d and %d", what, r, s.Part[i])
		}
		if r, ok := ours[s.Part[i]]; ok && r != q {
			t.Fatalf("%s: partition %d holds operations of several", what, s.Part[i])
		}
		theirs[q], ours[s.Part[i]] = s.Part[i], q
	}
	step := slowSteps(s, part)
	for i := range step {
		if step[i] != int(s.Step[i]) {
			t.Fatalf("%s: operation %d (process %d, %s) is at step %d, want %d", what, i, s.Proc[i], s.Name(int32(i)), s.Step[i], step[i])
		}
	}
}

// slowPartitions merges what belongs together, then merges any two sets that
// reach each other, until none do.
func slowPartitions(s *Structure) []int {
	t := s.Trace
	n := s.Len()
	part := make([]int, n)
	for i := range part {
		part[i] = i
	}
	merge := func(a, b int32) {
		from, to := part[a], part[b]
		for i := range part {
			if part[i] == from {
				part[i] = to
			}
		}
	}
	for i, m := range t.Sends.Match {
		if m >= 0 {
			merge(opOf(s, t.Sends.Op[i]), opOf(s, t.Recvs.Op[m]))
		}
		if w := t.Sends.Wait[i]; s.Options.Waitall && w >= 0 {
			if t.Waits.Op[w] >= 0 {
				merge(opOf(s, t.Sends.Op[i]), opOf(s, t.Waits.Op[w]))
			}
			for k, v := range t.Sends.Wait {
				if v == w {
					merge(opOf(s, t.Sends.Op[i]), opOf(s, t.Sends.Op[k]))
				}
			}
		}
	}
	for i := range t.Colls.Comm {
		m := t.Colls.Member[t.Colls.Start[i]:t.Colls.Start[i+1]]
		for k := range m {
			merge(opOf(s, m[0]), opOf(s, m[k]))
		}
	}
	a := &t.Async
	for i := range a.Comm {
		for k := a.Start[i]; k < a.Start[i+1]; k++ {
			merge(opOf(s, a.Begin[a.Start[i]]), opOf(s, a.Begin[k]))
			if a.Done[k] >= 0 {
				merge(opOf(s, a.Begin[k]), opOf(s, a.Done[k]))
			}
		}
	}
	for mergeCycle(s, part) {
	}
	return part
}

// edges of the partition graph.
func slowEdges(s *Structure, part []int) map[int]map[int]bool {
	out := map[int]map[int]bool{}
	for i := 1; i < s.Len(); i++ {
		if s.Proc[i] == s.Proc[i-1] && part[i] != part[i-1] {
			if out[part[i-1]] == nil {
				out[part[i-1]] = map[int]bool{}
			}
			out[part[i-1]][part[i]] = true
		}
	}
	return out
}

func mergeCycle(s *Structure, part []int) bool {
	edges := slowEdges(s, part)
	reach := func(from int) map[int]bool {
		seen := map[int]bool{}
		todo := []int{from}
		for len(todo) > 0 {
			q := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for r := range edges[q] {
				if !seen[r] {
					seen[r] = true
					todo = append(todo, r)
				}
			}
		}
		return seen
	}
	for from := range edges {
		r := reach(from)
		if !r[from] {
			continue
		}
		for q := range r {
			if reach(q)[from] {
				for i := range part {
					if part[i] == q {
						part[i] = from
					}
				}
			}
		}
		return true
	}
	return false
}

// slowSteps follows the text of the method: strides by repeated relaxation,
// then steps stride by stride, then offsets by repeated relaxation.
func slowSteps(s *Structure, part []int) []int {
	n := s.Len()
	next := func(i int) int { // first send or collective after i
		for j := i + 1; j < n && s.Proc[j] == s.Proc[i] && part[j] == part[i]; j++ {
			if s.Kind[j] != trace.Recv {
				return j
			}
		}
		return -1
	}
	from := make([][]int, n) // the senders of each receive
	for i := range n {
		for _, u := range senders(s, int32(i)) {
			from[i] = append(from[i], int(u))
		}
	}
	same := make([][]int, n) // members of the collective
	for i := range n {
		same[i] = []int{i}
		for _, m := range s.Collective(int32(i)) {
			same[i] = append(same[i], int(opOf(s, m)))
		}
	}
	stride := make([]int, n)
	for changed := true; changed; {
		changed = false
		raise := func(to, least int) {
			if to < 0 {
				return
			}
			for _, j := range same[to] {
				if stride[j] < least {
					stride[j] = least
					changed = true
				}
			}
		}
		for i := range n {
			if s.Kind[i] != trace.Recv {
				raise(next(i), stride[i]+1)
				continue
			}
			for _, u := range from[i] {
				raise(next(i), stride[u]+1)
			}
		}
	}
	return slowPlace(s, part, stride, from)
}

func slowPlace(s *Structure, part, stride []int, from [][]int) []int {
	n := s.Len()
	step := make([]int, n)
	length := map[int]int{}
	top := 0
	for _, k := range stride {
		top = max(top, k)
	}
	receive := func(i int) int {
		step[i] = 0
		if i > 0 && s.Proc[i-1] == s.Proc[i] && part[i-1] == part[i] {
			step[i] = step[i-1] + 1
		}
		for _, u := range from[i] {
			step[i] = max(step[i], step[u]+1)
		}
		return step[i]
	}
	for q := range partsOf(part) {
		cur := -1
		for k := 0; k <= top; k++ {
			any := false
			for i := range n {
				if part[i] != q || s.Kind[i] == trace.Recv || stride[i] != k {
					continue
				}
				any = true
				b := i
				for b > 0 && s.Proc[b-1] == s.Proc[i] && part[b-1] == q && s.Kind[b-1] == trace.Recv {
					b--
				}
				for ; b < i; b++ {
					cur = max(cur, receive(b))
				}
			}
			if !any {
				continue
			}
			cur++
			for i := range n {
				if part[i] == q && s.Kind[i] != trace.Recv && stride[i] == k {
					step[i] = cur
				}
			}
		}
		last := cur
		for i := range n {
			trailing := part[i] == q && s.Kind[i] == trace.Recv
			for j := i + 1; trailing && j < n && s.Proc[j] == s.Proc[i] && part[j] == q; j++ {
				trailing = s.Kind[j] == trace.Recv
			}
			if trailing {
				last = max(last, receive(i))
			}
		}
		length[q] = last + 1
	}
	first := map[int]int{}
	edges := slowEdges(s, part)
	for changed := true; changed; {
		changed = false
		for a, list := range edges {
			for b := range list {
				if first[b] < first[a]+length[a] {
					first[b] = first[a] + length[a]
					changed = true
				}
			}
		}
	}
	for i := range step {
		step[i] += first[part[i]]
	}
	return step
}

func partsOf(part []int) map[int]bool {
	set := map[int]bool{}
	for _, q := range part {
		set[q] = true
	}
	return set
}
