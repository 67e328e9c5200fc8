package tree

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// One pass over a text finds of its calls what looking from each of them finds: where
// its parentheses end, and which function is around it.
func TestMentions(t *testing.T) {
	pieces := []string{"int f(int a) {", "void g() {", "if (a) {", "{", "}", "}", "h(a, b[i]);", "k(m(n()));", "x = y;", "do {", "(", ")", "while (q(a)) {", "\n"}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteString(pieces[r.IntN(len(pieces))] + " ")
		}
		text := balanced(b.String())
		s := &scanner{file: "a.c", text: []byte(text), lines: strings.Split(text, "\n")}
		s.positions()
		calls, bodies := s.mentions()
		at := 0
		for _, m := range nameAndOpen.FindAllStringSubmatchIndex(text, -1) {
			name, end := text[m[2]:m[3]], s.closing(m[1]-1)
			brace := s.blank(end)
			if defines := brace < len(text) && text[brace] == '{' && s.opensFunction(brace); end < 0 || controls.MatchString(name) || defines || s.functionBody(m[2]) < 0 {
				continue
			}
			if at >= len(calls) {
				t.Fatalf("seed %d: %d calls in %q, and %s is one more", seed, len(calls), text, name)
			}
			if got := calls[at]; got.name != name || got.from != m[2] || got.to != end || got.body != s.functionBody(m[2]) {
				t.Fatalf("seed %d: call %d is %+v, want %s from %d to %d in %d, in %q", seed, at, got, name, m[2], end, s.functionBody(m[2]), text)
			}
			at++
		}
		if at != len(calls) {
			t.Fatalf("seed %d: %d calls, want %d in %q", seed, len(calls), at, text)
		}
		for name, in := range bodies {
			for _, body := range in {
				if text[body.from] != '{' || int(body.to) != s.closing(int(body.from)) {
					t.Fatalf("seed %d: body of %s is %v in %q", seed, name, body, text)
				}
			}
		}
	}
}

// balanced leaves out of a text what closes nothing, and closes what is open.
func balanced(text string) string {
	other := map[byte]byte{'(': ')', '[': ']', '{': '}'}
	var out, open []byte
	for i := range len(text) {
		switch c := text[i]; c {
		case '(', '[', '{':
			open, out = append(open, other[c]), append(out, c)
		case ')', ']', '}':
			if n := len(open); n > 0 && open[n-1] == c {
				open, out = open[:n-1], append(out, c)
			}
		default:
			out = append(out, c)
		}
	}
	for len(open) > 0 {
		out, open = append(out, open[len(open)-1]), open[:len(open)-1]
	}
	return string(out)
}
