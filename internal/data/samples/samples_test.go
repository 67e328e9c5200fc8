package samples

import (
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
)

// design is the list of canonical columns as users script it.
const design = "time cpu node rank host pid tid ip addr phys op width latency weight level hit remote hops snoop tlb lock file line function instruction symbol index x y z iteration"

func TestOrder(t *testing.T) {
	var names []string
	for _, f := range Fields() {
		names = append(names, f.Name)
		if f.Label == "" || f.Means == "" {
			t.Errorf("%s has label %q and means %q", f.Name, f.Label, f.Means)
		}
	}
	if got := strings.Join(names, " "); got != design {
		t.Errorf("order\n%s\nwant\n%s", got, design)
	}
	wanted := Wanted()
	if len(wanted) != len(names) || wanted[0].Name != Time || wanted[len(wanted)-1].Name != Iteration || wanted[1].Name != CPU || wanted[2].Name != IP {
		t.Errorf("wanted %v", wanted)
	}
}

func TestAxisOrder(t *testing.T) {
	for _, f := range Fields() {
		if (AxisPlace(f.Name) > 0) != (f.Axis != OnDemand) {
			t.Errorf("%s is axis %q and has place %d", f.Name, f.Axis, AxisPlace(f.Name))
		}
		if f.Names && f.Kind != table.Number {
			t.Errorf("%s names things and is a %s", f.Name, f.Kind)
		}
		if f.Head == "" && f.Unit == "" && f.Name != Rank && f.Name != Weight && f.Name != Hops && f.Kind != table.Flag && f.Name != Phys {
			t.Errorf("nothing says what the values of %s are", f.Name)
		}
	}
	if AxisPlace(Time) != 2 || AxisPlace("anything") != 0 {
		t.Errorf("time has place %d, anything %d", AxisPlace(Time), AxisPlace("anything"))
	}
}

func TestUsable(t *testing.T) {
	none := table.NewBits(2)
	for name, tt := range map[string]struct {
		column *table.Column
		want   bool
		about  string
	}{
		"measured":        {Ints(Latency, table.Measured, []int64{1, 2}, nil), true, ""},
		"modelled":        {Ints(Latency, table.Modelled, []int64{1, 2}, nil), true, "≈ "},
		"no row has it":   {Ints(Latency, table.Measured, []int64{0, 0}, none), false, ""},
		"of another kind": {table.Categories(Latency, table.Measured, []uint32{0, 0}, []string{"long"}, nil), false, ""},
		"another column":  {Ints(CPU, table.Measured, []int64{1, 2}, nil), false, ""},
	} {
		tab, err := table.New(Table, []*table.Column{tt.column})
		if err != nil {
			t.Fatal(err)
		}
		c := UsableLatency(tab)
		if (c != nil) != tt.want {
			t.Errorf("%s: usable %v", name, c != nil)
		}
		if c != nil && (About(c.Provenance) != tt.about || UnitOf(c) != Cycles) {
			t.Errorf("%s: about %q, unit %q", name, About(c.Provenance), UnitOf(c))
		}
	}
}

func TestColumn(t *testing.T) {
	valid := table.FullBits(2)
	c := Column(Level, table.Measured, []uint32{0, 1}, valid)
	c.Dict = []string{L1, LocalRAM}
	if c.Kind != table.Category || c.Valid != nil || c.Unit != "" || c.Provenance != table.Measured {
		t.Errorf("%+v", c)
	}
	if c := Column(Time, table.Measured, []int64{0, 0}, table.NewBits(2)); c.Unit != Nanoseconds || c.Provenance != table.Absent {
		t.Errorf("%+v", c)
	}
}
