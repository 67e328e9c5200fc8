package tree

import "testing"

func TestCaption(t *testing.T) {
	course := func(turns ...uint64) Loop {
		l := Loop{Kind: Plain, Exact: true, Course: turns, CourseEvery: 1}
		l.Entries, l.Min, l.Max = uint64(len(turns)), turns[0], turns[0]
		for _, n := range turns {
			l.Min, l.Max = min(l.Min, n), max(l.Max, n)
			l.Trips.Trips += n
		}
		l.Median = turns[len(turns)/2]
		return l
	}
	guess := course(3, 3)
	guess.Exact = false
	tests := []struct {
		name string
		loop Loop
		want string
	}{
		{"once", course(7), ""},
		{"alike", course(4, 4, 4), "each of its 3 entries makes 4 turns"},
		{"alike, not certain", guess, "each of its 2 entries makes about 3 turns"},
		{"shorter", course(4, 3, 2, 1), "4 entries of 4 … 1 turns: they grow shorter"},
		{"longer", course(0, 1, 2), "3 entries of 0 … 2 turns: they grow longer"},
		{"rounds", course(3, 2, 1, 3, 2, 1), "6 entries of 3 … 1 turns: they grow shorter"},
		{"rounds that break off", course(3, 2, 1, 3, 2, 2), "6 entries of 1 to 3 turns, half of them at most 3"},
		{"any", course(5, 1, 9, 2), "4 entries of 1 to 9 turns, half of them at most 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.loop.Caption(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestCourseIsThinned(t *testing.T) {
	var c course
	for i := range uint64(5000) {
		c.add(i)
	}
	if len(c.turns) > maxCourse || c.seen != 5000 {
		t.Fatalf("%d kept of %d", len(c.turns), c.seen)
	}
	for i, n := range c.turns {
		if n != uint64(i)*c.every {
			t.Fatalf("entry %d is %d, want %d", i, n, uint64(i)*c.every)
		}
	}
}
