package whatif

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// network is "latency * 2", "bandwidth * 0.5", "messages * 0.5" (both, as a
// factor of time) and "network = ideal".
func (s *Scenario) network(_ context.Context, words []string) error {
	if len(words) != 3 {
		return fmt.Errorf("want for example latency * 2, bandwidth * 0.5 or network = ideal")
	}
	if words[0] == "network" {
		if words[1] != "=" || words[2] != "ideal" {
			return fmt.Errorf("want network = ideal")
		}
		s.ideal()
		return nil
	}
	k, err := strconv.ParseFloat(words[2], 64)
	if err != nil || k <= 0 || k > 1e6 || words[1] != "*" {
		return fmt.Errorf("want a factor such as %s * 2", words[0])
	}
	latency, perByte := 1.0, 1.0
	switch words[0] {
	case "latency":
		latency = k
	case "bandwidth":
		perByte = 1 / k
	default:
		latency, perByte = k, k
	}
	s.scale(latency, perByte)
	return nil
}

func (s *Scenario) ideal() {
	clear(s.W.Own)
	for d := range s.W.Lag {
		if s.Deps.Kind[d] != dropped {
			s.W.Lag[d] = min(s.W.Lag[d], 0)
		}
	}
	s.assume("messages and calls take no time by themselves")
}

// Sizes that tell latency and bandwidth apart.
const (
	enoughSizes  = 3
	enoughSpread = 8
)

// scale changes latency and time per byte by factors. Where the messages are too
// alike to tell the two apart, both extremes are kept.
func (s *Scenario) scale(latency, perByte float64) {
	line := s.usual.line
	if line.sizes == 0 { // no message: collectives are all there is
		s.assume("the time of collectives grows with the latency; no contention is modelled")
		s.stretch(s.W, line, latency, perByte)
		return
	}
	s.assume("a message of n bytes takes %s and %.3g ns a byte, fitted to those whose receiver waited; no contention is modelled",
		term.Duration(s.Trace.NS(int64(line.alpha))), line.beta*1e9/float64(s.Trace.Resolution))
	if latency == perByte || line.sizes >= enoughSizes && line.spread >= enoughSpread {
		s.stretch(s.W, line, latency, perByte)
		if s.Other != nil {
			s.stretch(s.Other, line, latency, perByte)
		}
		return
	}
	if s.Other == nil {
		s.Other = s.W.Clone()
	}
	s.assume("messages of %d sizes do not tell latency from bandwidth: the interval holds both extremes", line.sizes)
	mean := s.meanBytes()
	whole := line.at(mean)
	s.stretch(s.W, linear{alpha: float64(whole)}, latency, perByte)
	s.stretch(s.Other, linear{beta: float64(whole) / float64(max(mean, 1))}, latency, perByte)
}

func (s *Scenario) meanBytes() int64 {
	sum, n := int64(0), int64(0)
	for d, k := range s.Deps.Kind {
		if k == Message {
			sum, n = sum+s.Deps.Bytes[d], n+1
		}
	}
	return sum / max(n, 1)
}

func (s *Scenario) stretch(w *Weights, line linear, latency, perByte float64) {
	for i := range int32(s.Len()) {
		transfer := int64(0) // what the messages of the call take
		for d := s.First[i]; d < s.First[i+1]; d++ {
			if w.Lag[d] <= never/2 { // dropped, or taken out by another change
				continue
			}
			switch s.Deps.Kind[d] {
			case Message, Rendezvous, Probe:
				bytes := float64(s.Deps.Bytes[d])
				w.Lag[d] += int64((latency-1)*line.alpha + (perByte-1)*line.beta*bytes)
				transfer = max(transfer, line.at(s.Deps.Bytes[d]))
			default:
				w.Lag[d] = int64(latency * float64(w.Lag[d]))
				if s.Deps.Kind[d] == Full {
					w.Own[i] = int64(latency * float64(w.Own[i]))
				}
			}
		}
		if s.movesInside(i, transfer) {
			bytes := float64(s.Bytes[i])
			w.Own[i] = max(0, w.Own[i]+int64((latency-1)*line.alpha+(perByte-1)*line.beta*bytes))
		}
	}
}

// remap puts ranks on other places: the lag of a message changes by the
// difference of what messages inside and between hosts take.
func (s *Scenario) remap(_ context.Context, words []string) error {
	places, err := s.placement(words)
	if err != nil {
		return err
	}
	host := func(p int32) string { return s.Trace.Procs[p].Host }
	inside, between, err := s.hostLines(host)
	if err != nil {
		return err
	}
	moved := 0
	takes := func(near bool, bytes int64) int64 {
		if near {
			return inside.at(bytes)
		}
		return between.at(bytes)
	}
	for i := range int32(s.Len()) {
		moved += s.move(i, func(p, q int32, bytes int64) (was, is int64) {
			return takes(host(p) == host(q), bytes), takes(host(places[p]) == host(places[q]), bytes)
		})
	}
	s.assume("%s %s between inside and between hosts; computations and collectives keep their times", term.Counted(moved, "message"), term.Agree(moved, "changes", "change"))
	return nil
}

// move changes what the messages of a call take, by the two times that takes gives
// for the ranks of each, and returns how many change. Where the library moves data
// inside the call its own time changes as the slowest of them does.
func (s *Scenario) move(i int32, takes func(p, q int32, bytes int64) (was, is int64)) (moved int) {
	transfer, after := int64(0), int64(0)
	for d := s.First[i]; d < s.First[i+1]; d++ {
		cause := s.Deps.Cause[d]
		if cause < 0 || s.Deps.Kind[d] != Message && s.Deps.Kind[d] != Rendezvous || s.W.Lag[d] <= never/2 {
			continue
		}
		was, is := takes(s.Line[i], s.Line[cause], s.Deps.Bytes[d])
		transfer, after = max(transfer, was), max(after, is)
		if was != is {
			moved++
			s.W.Lag[d] = max(0, s.W.Lag[d]+is-was)
		}
	}
	if moved > 0 && s.movesInside(i, transfer) {
		s.W.Own[i] = max(0, s.W.Own[i]+after-transfer)
	}
	return moved
}

// movesInside tells whether the library moves data inside a call: its own time
// is of the order of a transfer.
func (s *Scenario) movesInside(i int32, transfer int64) bool {
	return transfer > 0 && 2*s.UsualOwn[i] >= transfer
}

func (s *Scenario) placement(words []string) ([]int32, error) {
	items := strings.FieldsFunc(strings.Join(words[1:], ","), func(r rune) bool { return r == ',' })
	if len(items) != s.Lines() {
		return nil, fmt.Errorf("want %d places, one for each process, such as map 0,4,1,5; got %d", s.Lines(), len(items))
	}
	places := make([]int32, len(items))
	seen := make([]bool, len(items))
	for p, item := range items {
		n, err := strconv.Atoi(item)
		if err != nil || n < 0 || n >= len(items) || seen[n] {
			return nil, fmt.Errorf("%q: every process from 0 to %d is named once", item, len(items)-1)
		}
		places[p], seen[n] = int32(n), true
	}
	return places, nil
}

// enoughReceivers is how many waiting receivers a fit needs.
const enoughReceivers = 20

// hostLines fits messages inside and between hosts.
func (s *Scenario) hostLines(host func(int32) string) (inside, between linear, err error) {
	var n [2]int
	smallest := [2]map[int64]int64{{}, {}}
	var hosts []string
	for p := range s.Trace.Procs {
		if h := host(int32(p)); !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	if len(hosts) < 2 {
		return inside, between, fmt.Errorf("all processes ran on one host: the trace does not tell what messages between hosts take")
	}
	for i := range int32(s.Len()) {
		for d := s.First[i]; d < s.First[i+1]; d++ {
			cause := s.Deps.Cause[d]
			if s.Deps.Kind[d] != Message || cause < 0 || s.Enter[cause] <= s.Enter[i] {
				continue
			}
			k := 0
			if host(s.Line[i]) != host(s.Line[cause]) {
				k = 1
			}
			n[k]++
			lag := s.Exit[i] - s.Enter[cause]
			if old, ok := smallest[k][s.Deps.Bytes[d]]; !ok || lag < old {
				smallest[k][s.Deps.Bytes[d]] = lag
			}
		}
	}
	if n[0] < enoughReceivers || n[1] < enoughReceivers {
		return inside, between, fmt.Errorf("%s inside and %d between hosts had a waiting receiver; %d of each are needed to tell what they take", term.Counted(n[0], "message"), n[1], enoughReceivers)
	}
	return fitLine(smallest[0]), fitLine(smallest[1]), nil
}
