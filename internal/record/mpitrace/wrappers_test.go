package mpitrace

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// The library compiles without a warning.
func TestCompiles(t *testing.T) {
	for compiler, pkg := range map[string]string{"mpicc": "libopenmpi-dev", "mpicc.mpich": "libmpich-dev"} {
		t.Run(compiler, func(t *testing.T) { compiles(t, test.Peer(t, compiler, pkg)) })
	}
}

func compiles(t *testing.T, cc string) {
	dir := t.TempDir()
	file := filepath.Join(dir, "shim.c")
	if err := os.WriteFile(file, source(), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(cc, file, "-o", filepath.Join(dir, "shim.so"), "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-ldl").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// local are functions that exchange nothing with other processes, or do so in
// ways that are not of this interface: types, groups, attributes, names, tools.
var local = regexp.MustCompile(`^(Abi_|Abort|Add_error|Remove_error|Aint_|Address|Alloc_mem|Attr_|Buffer_|Cart_(coords|get|map|rank|shift)|Cartdim|Close_port|DUP_FN|Dims_|Dist_graph_neighbors|Errhandler|Error_|` +
	`File_(call|create|get_|set_(atomicity|errhandler|info))|Finalize|Free_mem|Get_(address|count|elements|library|processor|version|hw)|Graph_(get|map|neighbors)|Graphdims|Grequest|Group_|Info_|Init|Is_thread|Keyval|` +
	`Comm_(attach|detach|flush|iflush|call|compare|create_(errhandler|keyval)|delete|free_keyval|get_|group|rank|remote|set_|size|test_inter|join|agree|failure|get_failed|ack_failed|revoke|shrink|is_revoked)|` +
	`Lookup_name|Op_|Pack|Pcontrol|Publish|Query|Reduce_local|Register|Request_get|Session|Status|T_|Test_cancelled|Topo|Type_|Unpack|Unpublish|Wtick|Wtime|` +
	`Win_(call|create_(errhandler|keyval)|delete|free_keyval|get_|set_|shared_query)|CONVERSION_FN|NULL_|COMM_|TYPE_|WIN_|Comm_f2c|.*_(toint|fromint|f2c|c2f|f082c|c2f08|f2f08|f082f)$)`)

// Whatever a library declares is wrapped, or is known to be of no interest.
func TestHeaders(t *testing.T) {
	wrapped := map[string]bool{}
	for _, f := range functions() {
		wrapped[f.name] = true
	}
	// Sessions and what is made without a parent: processes that use them alone
	// never call MPI_Init.
	for _, name := range []string{"Comm_create_from_group", "Intercomm_create_from_groups"} {
		wrapped[name] = true
	}
	for compiler, pkg := range map[string]string{"mpicc": "libopenmpi-dev", "mpicc.mpich": "libmpich-dev"} {
		cmd := exec.Command(test.Peer(t, compiler, pkg), "-E", "-x", "c", "-")
		cmd.Stdin = strings.NewReader("#include <mpi.h>\n")
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`\bint +MPI_(\w+) *\(`).FindAllStringSubmatch(string(text), -1)
		if len(found) < 300 {
			t.Errorf("%s: only %d functions are declared", compiler, len(found))
		}
		for _, m := range found {
			if !wrapped[m[1]] && !local.MatchString(m[1]) {
				t.Errorf("%s: MPI_%s is not recorded", compiler, m[1])
			}
		}
	}
}
