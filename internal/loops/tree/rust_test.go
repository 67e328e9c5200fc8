package tree

import (
	"fmt"
	"slices"
	"testing"
)

func TestRustLoops(t *testing.T) {
	text := `impl<'a> Tree<'a> for Node<'a> { // for x in y {
fn run(v: &'a mut [f64], n: usize) -> char {
	'outer: for (i, x) in v.iter_mut().enumerate() {
		while let Some(q) = next(|k| { k + 1 }) {
			if q == '{' { continue 'outer; }
		}
		let r#loop = "for i in 0..n {";
	}
	loop {
		for j in (0..n).rev() { v[j] += 1.0; }
		break;
	}
	let for_each = v.iter().for_each(|x| { *x; });
	'}'
}
}
`
	var got []string
	for _, st := range rustLoops("a.rs", []byte(text)) {
		got = append(got, fmt.Sprintf("%d-%d %v %s", st.at>>columnBits, (st.body.to-1)>>columnBits, st.endless, st.text))
	}
	want := []string{
		"3-8 false 'outer: for (i, x) in v.iter_mut().enumerate() {",
		"4-6 false while let Some(q) = next(|k| { k + 1 }) {",
		"9-12 true loop {",
		"10-10 false for j in (0..n).rev() { v[j] += 1.0; }",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
