package platform

import "testing"

// FuzzSet: a machine that is changed by a text is refused, or passes its check.
func FuzzSet(f *testing.F) {
	f.Add("L1.size=48K,L1.ways=12,line=128,page=2M,dtlb=96/6,L3.policy=exclusive")
	f.Add("L1.ways=full,walk=-1,dtlb=0/0")
	f.Fuzz(func(t *testing.T, text string) {
		m, ok := Preset("classic")
		if !ok {
			t.Fatal("no preset classic")
		}
		if err := m.Set(text); err != nil {
			return
		}
		if err := m.Check(); err != nil {
			t.Errorf("%q is taken and then refused: %v", text, err)
		}
	})
}
