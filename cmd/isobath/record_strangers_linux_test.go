package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// Programs that others wrote, each with what makes it work for a moment. They read
// text.txt and program.c of their folder.
var strangers = []struct{ program, command string }{
	{"xz", "xz -T2 -c text.txt | cksum"},
	{"bzip2", "bzip2 -c text.txt | cksum"},
	{"gzip", "gzip -9 -n -c text.txt | cksum"},
	{"gcc", "gcc -O1 -c program.c -o program.o && cksum < program.o"},
	{"g++", "g++ -x c++ -O0 program.c -o program && ./program; echo $?"},
	{"perl", `perl -e 'my %h; $h{$_*7919%10007}+=$_ for 1..200000; my $s=0; $s+=$h{$_}*($_%3) for sort keys %h; print "$s\n"; exit 7'`},
	{"sort", "sort --parallel=2 text.txt | uniq -c | sort -rn | head -3"},
	{"python3", `python3 -c 'import json, sys; d=[{"a":i,"b":str(i)} for i in range(30000)]; s=json.dumps(d); print(len(s), sum(x["a"] for x in json.loads(s))); sys.exit(3)'`},
	{"node", `node -e 'let s=0; const o=[]; for (let i=0;i<2e5;i++) o.push({a:i,b:String(i)}); for (const x of o) s+=x.b.length; console.log(s); console.error("to stderr"); process.exit(4)'`},
	{"git", "git init -q repository && cp text.txt repository && cd repository && git add . && git -c user.name=a -c user.email=a@b commit -q -m x && git ls-files -s"},
	{"sqlite3", `sqlite3 :memory: 'create table t(a); with recursive c(x) as (select 1 union all select x+1 from c where x<50000) insert into t select x*7919%10007 from c; select sum(a) from t;'`},
	{"zstd", "zstd -q -9 -c text.txt | cksum"},
	{"awk", `awk '{ n[$1] += $2 } END { for (k in n) s += n[k] * length(k); print s; exit 5 }' text.txt`},
	{"tar", "tar -cf - --mtime=@0 --owner=0 --group=0 --sort=name text.txt program.c | gzip -n -6 | cksum"},
	{"make", `printf 'all: a b\n%%: program.c\n\tgcc -O0 -c program.c -o $@.o && cksum < $@.o > $@\n' > Makefile && make -j2 -s all && cat a b; make -s nothing; echo $?`},
	{"strace", "strace -f -o /dev/null sort text.txt | head -2"},
	{"file", "file -b text.txt program.c"}, // it gives up system calls before it looks
	{"sh", "kill -ABRT $$"},
}

// Programs of testdata/record/odd.c, by what they do.
var odd = []struct{ program, command string }{
	{"daemon", `"$ODD" daemon; for i in $(seq 600); do test -e daemon.out && break; sleep 0.05; done; cat daemon.out`},
	{"closes", `exec "$ODD" closes`}, {"handlers", `exec "$ODD" handlers`}, {"storm", `exec "$ODD" storm`}, {"debugs", `exec "$ODD" debugs`},
	{"coroutines", `exec "$ODD" coroutines`}, {"orphans", `exec "$ODD" orphans`}, {"hides", `exec "$ODD" hides`},
	{"forks", `exec "$ODD" forks`}, {"looks", `exec "$ODD" looks`}, {"limits", `exec "$ODD" limits`}, {"rings", `exec "$ODD" rings`}, {"drops", `exec "$ODD" drops`},
	{"crash", `exec "$ODD" crash`}, {"forks, linked statically", `exec "$ODD-static" forks`}, {"looks, linked statically", `"$ODD-static" looks; exec "$ODD-static" crash`},
}

// behaviour is what a program is seen to do.
type behaviour struct {
	stdout, stderr string
	status         int
}

func behaved(t *testing.T, cmd *exec.Cmd) behaviour {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	b := behaviour{stdout: out.String(), status: cmd.ProcessState.ExitCode()}
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		b.status = 128 + int(w.Signal()) // as a shell says it
	}
	for line := range strings.Lines(errs.String()) {
		if !strings.HasPrefix(line, "isobath: ") { // what we say is ours
			b.stderr += line
		}
	}
	return b
}

// material writes what the strangers work on.
func material(t *testing.T, dir string) {
	t.Helper()
	var text, code strings.Builder
	state := uint32(7)
	for range 60000 {
		state = state*1664525 + 1013904223
		fmt.Fprintf(&text, "%c%c %d\n", 'a'+state>>28, 'a'+state>>24&15, state>>20)
	}
	code.WriteString("#include <stdio.h>\n")
	for i := range 60 {
		fmt.Fprintf(&code, "int f%d(int a, int b) { int s = 0; for (int i = 0; i < a; i++) { s += i * b + %d; if (s %% 7 == 3) s ^= b; } return s; }\n", i, i)
	}
	code.WriteString("int main(void) { printf(\"%d\\n\", f3(3, 4)); return 9; }\n")
	for name, body := range map[string]string{"text.txt": text.String(), "program.c": code.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is recorded prints and ends as it would without us: with stacks and
// allocations, and where the folder for temporary files is small or must not be written.
func TestRecordStrangers(t *testing.T) {
	if testing.Short() {
		t.Skip("records a dozen programs several times")
	}
	r := newRecorder(t)
	r.nobody = false // it has no folder of its own for temporary files
	var folders []string
	for _, options := range []struct {
		flags uintptr
		data  string
	}{{0, "size=64k"}, {syscall.MS_RDONLY, ""}} {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", options.flags, options.data); err != nil {
			t.Logf("no folders without room: %v", err)
			break
		}
		defer syscall.Unmount(dir, 0)
		folders = append(folders, dir)
	}
	own := filepath.Join(r.dir, "odd")
	for out, flag := range map[string]string{own: "-pie", own + "-static": "-static"} {
		if text, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-O1", "-g", "-w", "-pthread", flag, "-o", out, "testdata/record/odd.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	t.Setenv("ODD", own)
	tried := 0
	for i, tt := range slices.Concat(odd, strangers) {
		if _, err := exec.LookPath(tt.program); err != nil && i >= len(odd) {
			t.Logf("there is no %s here", tt.program)
			continue
		}
		tried++
		t.Run(tt.program, func(t *testing.T) {
			run := func(env []string, command ...string) behaviour {
				dir := t.TempDir()
				material(t, dir)
				cmd := r.command(append(command, "sh", "-c", tt.command)...)
				if len(command) == 0 {
					cmd = exec.Command("sh", "-c", tt.command)
				}
				cmd.Dir, cmd.Env = dir, append(append(os.Environ(), cmd.Env...), env...)
				return behaved(t, cmd)
			}
			out := filepath.Join(t.TempDir(), "out.isobath")
			want := run(nil)
			if got := run(nil, "record", "-o", out, "--rate", "1000", "--"); got != want {
				t.Errorf("recorded: %+v\nwithout: %+v", got, want)
			}
			if _, samples := r.open(out); samples.Rows() == 0 && tt.program != "sh" {
				t.Error("there are no samples")
			}
			// A compiler needs that folder itself, and fails in it either way.
			if !slices.Contains([]string{"xz", "perl", "python3", "sh"}, tt.program) {
				return
			}
			for _, dir := range folders {
				env := []string{"TMPDIR=" + dir}
				want := run(env)
				if got := run(env, "record", "-o", out, "--force", "--"); got != want {
					t.Errorf("recorded with %s for temporary files: %+v\nwithout: %+v", dir, got, want)
				}
			}
		})
	}
	if tried < len(odd)+6 {
		t.Errorf("only %d programs to record", tried)
	}
}
