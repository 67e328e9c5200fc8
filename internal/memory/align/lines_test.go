package align

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

func matchTexts(a, b []string) *matching {
	fa, fb := newFile(a), newFile(b)
	return matchFiles(fa, fb, append(namesakes(fa, fb), lookalikes(fa, fb)...))
}

// TestLines counts, over edited files whose every line is known, how many lines
// find their partner and how many pairs are right.
func TestLines(t *testing.T) {
	dir := test.Shared(t, "compare/lines")
	text, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Case, Ext  string
		Pairs      [][2]int
		Unmodified json.RawMessage
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	var equal, equalFound, modified, modifiedFound, right, made float64
	for _, c := range cases {
		read := func(side string) []string {
			text, err := os.ReadFile(filepath.Join(dir, c.Case+"."+side+"."+c.Ext))
			if err != nil {
				t.Fatal(err)
			}
			return strings.Split(string(text), "\n")
		}
		a, b := read("a"), read("b")
		m := matchTexts(a, b)
		truth := map[int]int{}
		for _, p := range c.Pairs {
			truth[p[0]-1] = p[1] - 1
			hit := m.toB[p[0]-1] == p[1]-1
			if m.a[p[0]-1].text == m.b[p[1]-1].text {
				equal++
				equalFound += one(hit)
			} else {
				modified++
				modifiedFound += one(hit)
				if !hit {
					t.Logf("%s: %d %q is %d %q, found %d", c.Case, p[0], a[p[0]-1], p[1], b[p[1]-1], m.toB[p[0]-1]+1)
				}
			}
		}
		for i, j := range m.toB {
			want, known := truth[i]
			if j < 0 || m.a[i].common {
				continue
			}
			made++
			near := known && want-j <= 2 && j-want <= 2 && m.b[j].text == m.b[want].text
			right += one(known && want == j || near)
			if !(known && want == j || near) {
				t.Logf("%s: wrong %d %q to %d %q, is %d", c.Case, i+1, a[i], j+1, b[j], want+1)
			}
		}
	}
	result := fmt.Sprintf("unmodified found %.4f of %.0f, modified %.4f of %.0f, right pairs %.4f of %.0f", equalFound/equal, equal, modifiedFound/modified, modified, right/made, made)
	t.Log(result)
	if equalFound/equal < .985 || modifiedFound/modified < .92 || right/made < .995 {
		t.Error(result)
	}
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestLinesAmongMoved: a line that was written anew inside of code that moved, and a
// short one between its old neighbours, keep their partners.
func TestLinesAmongMoved(t *testing.T) {
	block := func(line string) []string {
		return []string{"\tlower := bisect(cells, first)", "\tupper := bisect(cells, last)", line, "\tspread(lower, upper)", "\tcollect(rows, lower)"}
	}
	other := func(name, last string) []string {
		return []string{"func " + name + "() {", "\topen(" + name + ")", "\tread(" + name + ")", "\tsum += weigh(" + name + ")", last, "}"}
	}
	join := func(parts ...[]string) (out []string) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	old, anew := "\tgrid[lower] = relax(grid, lower, upper, 4)", "\tgrid[lower] = relax(grid, lower, upper, passes)"
	a := join(other("alpha", "\tclose()"), []string{"func solve() {"}, block(old), []string{"}"}, other("beta", "\treturn err"))
	// Taken out into a function of its own, far below.
	b := join(other("alpha", "\tclose()"), []string{"func solve() {", "\ttile()", "}"}, other("beta", "\treturn err // of cells"), []string{"func tile() {"}, block(anew), []string{"}"})
	m := matchTexts(a, b)
	for text, want := range map[string]string{old: anew, "\treturn err": "\treturn err // of cells"} {
		i := slices.Index(a, text)
		if j := m.toB[i]; j < 0 || b[j] != want || m.how[i] != Modified {
			t.Errorf("%q is paired with line %d, %s", text, j, m.how[i])
		}
	}
	// Where one line went and another came, with nothing in common, they are two.
	a, b = append(block(old), "end"), append(block("\tlog.Println(\"half way\")"), "end")
	if m = matchTexts(a, b); m.toB[2] >= 0 {
		t.Errorf("%q is paired with %q", a[2], b[m.toB[2]])
	}
}

// TestFunctionsOfLanguages finds where functions begin and end in what looks like
// quotes, but is none, and with what stands before them.
func TestFunctionsOfLanguages(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []function
	}{
		{"lifetimes of Rust", `use std::fmt;
fn longest<'a>(x: &'a str, y: &'a str) -> &'a str {
    if x.len() > 1 { x } else { y }
}
fn quoted(c: char) -> bool {
    c == '{' || c == '\'' || c == 'é' || c == '\u{7b}'
}
fn last<'b>(x: &'b [u8]) -> &'b u8 { &x[0] }`, []function{{"longest", 1, 4}, {"quoted", 4, 7}, {"last", 7, 8}}},
		{"attributes of Rust", `#[derive(Debug)]
struct S { a: u8 }

#[inline]
#[cfg(feature = "x")]
/// Adds.
fn add(a: u8) -> u8 {
    #[allow(unused)]
    let b = a;
    b
}
#[test]
fn adds() {
}`, []function{{"add", 3, 11}, {"adds", 11, 14}}},
		{"parted digits of C++", `long f() { return 1'000'000; }
int g() {
  return 0xff'ff'ff'ff;
}`, []function{{"f", 0, 1}, {"g", 1, 4}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, fortran := functionsOf(strings.Split(tt.text, "\n")); fortran || !slices.Equal(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestFunctionsOfFortran finds functions by their heads and ends alone: not by what
// comments say, nor by what an interface describes, nor do loops end them.
func TestFunctionsOfFortran(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []function
	}{
		{"free form", `module m
  interface
    subroutine outside(x)
      real :: x
    end subroutine outside
  end interface
contains
  ! The function of this is plain.
  pure elemental real(kind=kind(1.0d0)) FUNCTION twice(x) result(y) ! a function too
    real, intent(in) :: x
    if (x > 0) then
      y = 2 * x
    end if
  end function twice ! of x
  subroutine outer
    call inner
  contains
    subroutine inner()
      print *, 'end subroutine inner'
    end subroutine
  end subroutine OUTER
end module m
program p
  character(len=8) :: function_name = "function f(x)"
end program`, []function{{"twice", 8, 14}, {"outer", 14, 21}, {"inner", 17, 20}, {"p", 22, 25}}},
		{"fixed form", `C     This program is small.
      PROGRAM P
      DO 10 I = 1, 3
   10 CONTINUE
      END
*     function of nothing
      DOUBLE PRECISION FUNCTION F(X)
      F = X
      END`, []function{{"p", 1, 5}, {"f", 6, 9}}},
		{"an end that is missing", `subroutine a
  implicit none
subroutine b(x)
end subroutine b`, []function{{"a", 0, 2}, {"b", 2, 4}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, fortran := functionsOf(strings.Split(tt.text, "\n")); !fortran || !slices.Equal(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
	for name, text := range map[string]string{
		"C":   "/* program\n   function f\n   end */\nint program (int x)\n{\n  return x;\n}",
		"Lua": "function first (x)\n  if x then\n    return 1\n  end\nend",
	} {
		if got, fortran := functionsOf(strings.Split(text, "\n")); fortran {
			t.Errorf("%s is taken for Fortran: %+v", name, got)
		}
	}
}

// TestLinesOfFortran pairs lines whose letters are large on one side: they are the
// same to its compilers. In C they are others.
func TestLinesOfFortran(t *testing.T) {
	a := []string{"      SUBROUTINE RELAX(U, N)", "      DO 10 I = 1, N", "        IF (U(I) .GT. 0) THEN", "          U(I) = U(I) +", "     &      W(I)", "        END IF", "   10 CONTINUE", "      END SUBROUTINE RELAX"}
	b := []string{"      ! in the other direction", "      subroutine relax(u, n)", "      do 10 i = 1, n", "        if (u(i) .gt. 0) then", "          u(i) = u(i) +", "     &      w(i)", "        end if", "   10 continue", "      end subroutine relax"}
	m := matchTexts(a, b)
	for i, j := range m.toB {
		if j != i+1 || m.how[i] != Equal {
			t.Errorf("%q is paired with line %d, %s", a[i], j+1, m.how[i])
		}
	}
	m = matchTexts([]string{"int f(int N)", "{", "  n = N;", "}"}, []string{"int f(int N)", "{", "  N = N;", "  n = n;", "}"})
	if m.toB[2] >= 0 && m.how[2] == Equal {
		t.Errorf("n = N is line %d", m.toB[2]+1)
	}
}
