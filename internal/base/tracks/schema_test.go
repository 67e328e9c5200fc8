package tracks

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/base/test"
)

// decoded is a trace in words, by protoc and the published schema. A field that
// the schema does not have is a number there.
func decoded(t *testing.T, trace []byte) string {
	t.Helper()
	cmd := exec.Command(test.Peer(t, "protoc", "protobuf-compiler"), "--decode=perfetto.protos.Trace", "-Itestdata", "perfetto.proto")
	cmd.Stdin = bytes.NewReader(trace)
	var text, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("protoc: %v: %s", err, problems.String())
	}
	return text.String()
}

var unknownField = regexp.MustCompile(`(?m)^ *\d+(:| \{).*$`)

// TestPerfettoSchema lets protoc read what is written: it is all of the schema,
// and says what testdata/story.txt says.
func TestPerfettoSchema(t *testing.T) {
	var b bytes.Buffer
	if err := story(NewPerfetto(&b)); err != nil {
		t.Fatal(err)
	}
	got := decoded(t, b.Bytes())
	if field := unknownField.FindString(got); field != "" {
		t.Errorf("the schema has no field %s", field)
	}
	want, err := os.ReadFile("testdata/story.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A field of another number or type would be seen.
	var wrong message
	wrong.bytes(1, append([]byte{9 << 3}, 1))
	if text := decoded(t, wrong); !unknownField.MatchString(text) {
		t.Errorf("an unknown field passes: %s", text)
	}
}

// TestPerfettoOfChromium holds the schema against a trace that Chromium writes
// with Perfetto's own library: it names threads and processes, slices begin and
// end, and the numbers of interned names are those of the same sequence.
func TestPerfettoOfChromium(t *testing.T) {
	chromium := test.Peer(t, "chromium", "chromium")
	folder := t.TempDir()
	page, out := filepath.Join(folder, "page.html"), filepath.Join(folder, "trace")
	if err := os.WriteFile(page, []byte("<h1>a page</h1>"), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(folder, "user"),
		"--trace-startup=toplevel,blink,v8", "--trace-startup-format=proto", "--trace-startup-file="+out, "--trace-startup-duration=0", "--dump-dom", "file://"+page)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %.2000s", err, text)
	}
	trace, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	text := decoded(t, trace)
	for _, want := range []string{`thread_name: "CrRendererMain"`, `process_name: "Browser"`, "terminating_flow_ids: ", "double_value: ", "string_value: ", "      parent_uuid: "} {
		if !strings.Contains(text, strings.TrimSpace(want)) {
			t.Errorf("no %s", want)
		}
	}
	begun, ended := strings.Count(text, "type: TYPE_SLICE_BEGIN\n"), strings.Count(text, "type: TYPE_SLICE_END\n")
	if begun < 500 || ended < begun*9/10 || ended > begun*11/10 {
		t.Errorf("%d slices begin and %d end", begun, ended)
	}
	if named, found := internedNames(text); named < 500 || found < named*99/100 {
		t.Errorf("%d of %d interned names are known", found, named)
	}
}

// internedNames counts the slices whose name is a number, and those of them
// whose number was given a name before, on the same sequence.
func internedNames(text string) (named, found int) {
	type key struct{ sequence, id string }
	known := map[key]bool{}
	number := func(packet, field string) string {
		m := regexp.MustCompile(`(?m)^ *` + field + `: (\d+)$`).FindStringSubmatch(packet)
		if m == nil {
			return ""
		}
		return m[1]
	}
	event := regexp.MustCompile(`event_names \{\n *iid: (\d+)\n`)
	for _, packet := range strings.Split(text, "\npacket {") {
		sequence := number(packet, "trusted_packet_sequence_id")
		for _, m := range event.FindAllStringSubmatch(packet, -1) {
			known[key{sequence, m[1]}] = true
		}
		if id := number(packet, "    name_iid"); id != "" && strings.Contains(packet, "TYPE_SLICE_BEGIN") {
			named++
			if known[key{sequence, id}] {
				found++
			}
		}
	}
	return named, found
}
