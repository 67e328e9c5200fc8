package record

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/record/pmu"
)

// Time in the kernel is sampled as much as there is, told apart by why the kernel
// runs, and no access of the program.
func TestKernelTime(t *testing.T) {
	dir := t.TempDir()
	program, told := filepath.Join(dir, "kernel"), filepath.Join(dir, "told")
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-O1", "-g", "-o", program, "testdata/kernel.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := Record(context.Background(), &Options{Command: []string{program, told}, Mode: Timer, Heap: false, Say: func(string) {}, Sampling: pmu.Options{Kernel: true, Stacks: true}})
	if err != nil || len(got.Run.Recording.Why) > 0 {
		t.Skipf("this machine does not let us sample the kernel: %v", err)
	}
	body, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	var spent, system [3]float64 // seconds of each phase
	for i, line := range strings.Split(strings.TrimSpace(string(body)), "\n") {
		if _, err := fmt.Sscan(line, &spent[i], &system[i]); err != nil {
			t.Fatal(err)
		}
	}
	rows := got.Run.Contents[0]
	why, object, op, addr, in := rows.Column(samples.Kernel), rows.Column("symbol"), rows.Column("op"), rows.Column("addr"), rows.Column("kernel_function")
	if why == nil || in == nil {
		t.Fatalf("no sample in the kernel: %v", got.Run.Recording.Addresses)
	}
	ways, pages, others, own, kernel := map[string]float64{}, 0, 0, 0, 0
	for i := range rows.Rows() {
		if !why.Has(i) {
			continue
		}
		kernel++
		ways[why.Text(i)] += 0.001
		if op.Has(i) || !object.Has(i) {
			t.Fatalf("row %d: a sample in the kernel has an operation, or no object", i)
		}
		if why.Text(i) == byFault && addr.Has(i) {
			pages++
			if object.Text(i) != "page fault of pages" { // the program has a few other pages too
				t.Logf("row %d: %s at %s", i, object.Text(i), addr.Text(i))
				others++
			}
		}
		if why.Text(i) == byFault && cellText(rows.Column("function"), i) == "faults" {
			own++ // the line is that of the program
		}
	}
	t.Logf("%d samples, in the kernel %v; the program says %v of %v s", rows.Rows(), ways, system, spent)
	near := func(what string, got, want float64) {
		if got < want-0.1 || got > want+0.1 {
			t.Errorf("%s: %.3f s sampled, %.3f s spent", what, got, want)
		}
	}
	near("page faults", ways[byFault]+ways["system call madvise"], system[0])
	near("system calls", ways["system call read"], system[1])
	n, lost := ways[byFault]*1000, got.Run.Recording.LostTouches
	t.Logf("of %.0f samples in page faults %d have their address; %d records of faults were lost", n, pages, lost)
	if lost == 0 && float64(pages) < 0.6*n || pages == 0 || float64(own) < 0.9*n {
		t.Errorf("of %.0f samples in page faults %d have their address and %d are of the function", n, pages, own)
	}
	if others > 1+pages/100 {
		t.Errorf("%d of %d samples in page faults are of other objects", others, pages)
	}
	if d := got.Run.Recording; d.Addresses[inKernel] != kernel || d.InKernel[byFault] == 0 || sumOf(d.InKernel) != kernel {
		t.Errorf("%d samples in the kernel, the recording says %v and %v", kernel, d.Addresses[inKernel], d.InKernel)
	}
}

func sumOf(counts map[string]int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}

func TestWayIn(t *testing.T) {
	for _, tt := range []struct{ chain, want string }{
		{"clear_page_erms folio_zero_user do_anonymous_page handle_mm_fault do_user_addr_fault exc_page_fault asm_exc_page_fault", "page fault"},
		{"rep_stos_alternative iov_iter_zero read_zero vfs_read ksys_read __x64_sys_read x64_sys_call do_syscall_64 entry_SYSCALL_64_after_hwframe", "system call read"},
		// A page fault within a call, and an interrupt, are the call's.
		{"clear_page_erms exc_page_fault asm_exc_page_fault rep_movs_alternative __x64_sys_write do_syscall_64 entry_SYSCALL_64_after_hwframe", "system call write"},
		{"__do_softirq irq_exit_rcu sysvec_apic_timer_interrupt asm_sysvec_apic_timer_interrupt", "interrupt"},
		{"do_mem_abort el0_da el0t_64_sync_handler el0t_64_sync", "page fault"},
		{"__arm64_sys_openat invoke_syscall do_el0_svc el0_svc el0t_64_sync_handler el0t_64_sync", "system call openat"},
		{"syscall_exit_to_user_mode do_syscall_64 entry_SYSCALL_64_after_hwframe", "system call"},
		{"worker_thread kthread ret_from_fork ret_from_fork_asm", "kernel thread"},
		{"something", ""},
		{"", ""},
	} {
		if got := wayIn(strings.Fields(tt.chain)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.chain, got, tt.want)
		}
	}
}

// Where the kernel hides its symbols, the instruction of the program tells what is
// known, and no more.
func TestKernelWithoutSymbols(t *testing.T) {
	files := &symbol.Files{}
	defer files.Close()
	files.UseKernel(nil)
	c := newCollector(files)
	defer c.code.close()
	regs := func(ip uint64) perfevent.Regs {
		return perfevent.Regs{ABI: perfevent.ABI64, Mask: 1 << c.regs.ip, Values: perfevent.Words{Bytes: binary.LittleEndian.AppendUint64(nil, ip)}}
	}
	event := pmu.TimerPlan(&pmu.Options{Kernel: true}).Events[0]
	for _, s := range []*perfevent.Sample{
		{IP: 0xffffffff81000000, PID: 1 << 30, TID: 7, Time: 10, RegsUser: regs(0x1000)},
		{IP: 0xffffffff81000000, PID: 1 << 30, TID: 7, Time: 11},
	} {
		c.Sample(&event, s)
	}
	var got []string
	for i := range c.rows {
		got = append(got, c.kernelWords.text(c.rows[i].way)+" "+c.rows[i].label())
	}
	if want := []string{byEither + " kernel", byThread + " kernel"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if c.rows[0].leaf != 0 || c.rows[0].ip != 0x1000 || c.rows[1].ip != 0 {
		t.Errorf("%+v", c.rows)
	}
}

// A sample in a page fault is of the fault that began last, and at the entry, where
// the fault is not recorded yet, of the next one.
func TestFaultAddresses(t *testing.T) {
	c := &collector{}
	way := c.kernelWords.number(byFault)
	fault := func(time, ip uint64, leaf string) row {
		return row{time: time, ip: ip, tid: 1, way: way, leaf: c.kernelWords.number(leaf)}
	}
	c.touches = []touch{{time: 100, ip: 5, addr: 0x1000, tid: 1}, {time: 150, ip: 5, addr: 0x9000, tid: 2}, {time: 200, ip: 5, addr: 0x2000, tid: 1}, {time: 300, ip: 6, addr: 0x3000, tid: 1}}
	c.rows = []row{fault(90, 5, "clear_page_erms"), fault(160, 5, "clear_page_erms"), fault(190, 5, "exc_page_fault"), fault(210, 5, "perf_swevent_event"), fault(220, 7, "clear_page_erms"), fault(310, 6, "exc_page_fault"), fault(320, 6, "clear_page_erms"),
		fault(400+faultTime, 6, "clear_page_erms"), {time: 330, ip: 6, tid: 1}}
	c.faultAddresses()
	var got []uint64
	for i := range c.rows {
		got = append(got, c.rows[i].addr)
		if c.rows[i].hasAddr != (c.rows[i].addr != 0) {
			t.Errorf("row %d: %+v", i, c.rows[i])
		}
	}
	if want := []uint64{0, 0x1000, 0x2000, 0, 0, 0, 0x3000, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("addresses %#x, want %#x", got, want)
	}
}
