package platform

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Set changes a machine by settings such as "L1.size=48K,L1.ways=12,line=128,
// page=2M,dtlb=96/6,L3.policy=exclusive", and names it after them.
func (m *Machine) Set(settings string) error {
	for _, s := range strings.Split(settings, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("setting %q: want KEY=VALUE, such as L1.size=48K", s)
		}
		if err := m.set(strings.ToLower(key), value); err != nil {
			return fmt.Errorf("setting %q: %w", s, err)
		}
	}
	m.Name += " with " + settings
	return m.Check()
}

func (m *Machine) set(key, value string) error {
	switch key {
	case "line":
		n, err := Bytes(value)
		for i := range m.Levels {
			m.Levels[i].Line = n
		}
		return err
	case "page":
		n, err := Bytes(value)
		m.Page = n
		m.known("page size")
		return err
	case "dtlb", "stlb":
		t, err := parseTLB(value)
		if key == "dtlb" {
			m.DTLB = t
		} else {
			m.STLB = t
		}
		return err
	case "walk", "remote", "queue":
		n, err := strconv.Atoi(value)
		*map[string]*int{"walk": &m.Walk, "remote": &m.Remote, "queue": &m.Queue}[key] = n
		return err
	}
	name, what, ok := strings.Cut(key, ".")
	i := slices.IndexFunc(m.Levels, func(l Level) bool { return strings.EqualFold(l.Name, name) })
	if !ok || i < 0 {
		return fmt.Errorf("want line, page, dtlb, stlb, walk, remote, queue, or L1.size, .ways, .line, .step, .policy of a level that the machine has")
	}
	return m.Levels[i].set(what, value)
}

func (l *Level) set(what, value string) (err error) {
	switch what {
	case "size":
		l.Size, err = Bytes(value)
	case "ways":
		if value == "full" {
			l.Ways = l.Size / max(l.Line, 1)
		} else {
			l.Ways, err = strconv.Atoi(value)
		}
	case "line":
		l.Line, err = Bytes(value)
	case "step":
		l.Step, err = strconv.Atoi(value)
	case "policy":
		l.Policy = Policy(value)
		if l.Policy != NonInclusive && l.Policy != Inclusive && l.Policy != Exclusive {
			return fmt.Errorf("want %s, %s or %s", NonInclusive, Inclusive, Exclusive)
		}
	default:
		return fmt.Errorf("a level has size, ways, line, step and policy")
	}
	l.Assumed = slices.DeleteFunc(slices.Clone(l.Assumed), func(s string) bool { return s == what })
	return err
}

// known takes back an assumption.
func (m *Machine) known(what string) {
	m.Assumed = slices.DeleteFunc(slices.Clone(m.Assumed), func(s string) bool { return s == what })
}

func parseTLB(s string) (TLB, error) {
	a, b, ok := strings.Cut(s, "/")
	n, err := strconv.Atoi(a)
	ways := n
	if ok && err == nil {
		ways, err = strconv.Atoi(b)
	}
	if err != nil {
		return TLB{}, fmt.Errorf("want entries and ways, such as 96/6")
	}
	return TLB{n, ways}, nil
}

// Bytes reads a size such as 48K, 2M or 65536.
func Bytes(s string) (int, error) {
	t := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "IB"), "B")
	unit := 1.0
	for i, u := range "KMG" {
		if strings.HasSuffix(t, string(u)) {
			t, unit = t[:len(t)-1], math.Pow(1024, float64(i+1))
		}
	}
	n, err := strconv.ParseFloat(t, 64)
	if v := n * unit; err != nil || v < 1 || v > 1<<40 || v != math.Trunc(v) {
		return 0, fmt.Errorf("%q: want a size such as 48K or 2M", s)
	}
	return int(n * unit), nil
}
