package reftrace

import (
	"bytes"
	"context"
	"debug/elf"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/ccache"
	"github.com/isobath/isobath/internal/record/heap"
	"github.com/isobath/isobath/internal/record/target"
)

// bufferSource comes before the other C sources.
//
//go:embed c/buffer.c
var bufferSource []byte

//go:embed c/qemu.c
var pluginSource []byte

// emulator is the qemu-user program for a kind of machine.
func emulator(m elf.Machine) (name string, flags []string, err error) {
	switch m {
	case elf.EM_X86_64:
		return "qemu-x86_64", nil, nil
	case elf.EM_AARCH64:
		return "qemu-aarch64", []string{"-DGUEST_AARCH64"}, nil
	}
	return "", nil, fmt.Errorf("qemu: programs for %v cannot be recorded", m)
}

// qemuVersion returns the release of an emulator, 0 if it does not say.
func qemuVersion(ctx context.Context, qemu string) (major, minor int) {
	text, err := exec.CommandContext(ctx, qemu, "--version").Output()
	if err != nil {
		return 0, 0
	}
	if m := regexp.MustCompile(`version (\d+)\.(\d+)`).FindSubmatch(text); m != nil {
		major, _ = strconv.Atoi(string(m[1]))
		minor, _ = strconv.Atoi(string(m[2]))
	}
	return major, minor
}

// pluginAPI is the version of the plugin interface to ask for: since release
// 9.0 qemu refuses version 1, and all since then accept version 2.
func pluginAPI(major int) string {
	if major >= 9 {
		return "2"
	}
	return "1"
}

// qemu records by running the program under qemu-user with our plugin.
func (j *job) qemu(ctx context.Context) error {
	name, flags, err := emulator(j.program.Machine)
	if err != nil {
		return err
	}
	qemu, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%s is not installed; apt-get install qemu-user, or use --backend step", name)
	}
	major, minor := qemuVersion(ctx, qemu)
	j.overreads = major == 7 && minor == 2
	plugin, err := ccache.Build(ctx, ccache.Source{Name: "isobath-refs.so", Text: slices.Concat(bufferSource, pluginSource), Compiler: "cc", Package: "gcc",
		Flags: append([]string{"-shared", "-fPIC", "-O2", "-fvisibility=hidden", "-pthread", "-DAPI=" + pluginAPI(major)}, flags...)})
	if err != nil {
		return err
	}
	out, err := scratch.File("", "refs")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	if j.Flow && j.bounds.Pieces != nil {
		// The emulator's blocks of code begin before the region does.
		j.Flow = false
		j.note("the way through the code is not kept: qemu does not cut it to a range or line; --backend step does")
	}
	args := fmt.Sprintf("%s,out=%s,code=%x,limit=%d,%s", plugin, out.Name(), j.program.CodeStart, j.rawLimit(), j.regionSettings(j.Flow))
	if j.elsewhere() {
		// Words are parted by commas, which a path may have.
		args += fmt.Sprintf(",module=%x,base=%x", j.bounds.In.Path, j.bounds.In.Base())
	}
	if n := len(j.bounds.Pieces); n > maxPluginPieces {
		return fmt.Errorf("the code of %s is in %d pieces; qemu takes %d, --backend step all of them", j.Region.Function, n, maxPluginPieces)
	}
	for i, r := range j.bounds.Pieces {
		args += fmt.Sprintf("%s%x-%x", map[bool]string{true: ",pieces=", false: ":"}[i == 0], r.Low, r.High)
	}
	words := []string{"-plugin", args, "-0", j.Command[0]}
	settings, err := j.logAllocations(ctx)
	if err != nil {
		return err
	}
	if settings != nil {
		// For the program alone: the emulator is a program of its own.
		for _, s := range heap.Clocked(settings, out.Name()) {
			words = append(words, "-E", s)
		}
	}
	cmd := exec.CommandContext(ctx, qemu, slices.Concat(words, []string{j.program.Path}, j.Command[1:])...)
	if err := j.runChild(cmd); err != nil {
		return err
	}
	return j.readRecords(out)
}

// maxPluginPieces is how many pieces the plugin has room for.
const maxPluginPieces = 512

// regionSettings are the words about the region that recorders inside a program
// have in common.
func (j *job) regionSettings(way bool) string {
	bit := map[bool]int{true: 1}
	b := &j.bounds
	return fmt.Sprintf("start=%x,stop=%x,after=%d,thread=%d,flow=%d,skip=%d,calls=%d",
		b.Start.Low, b.Stop.Low, bit[b.After], j.Thread, bit[way], b.Skip, b.Times(j.Thread == AllThreads))
}

// elsewhere reports whether the region is in a library.
func (j *job) elsewhere() bool { return j.bounds.In != j.program }

// rawLimit bounds what the plugin writes: at most two records of a reference
// that reads and writes, and wide vectors come in eight pieces.
func (j *job) rawLimit() uint64 { return min(j.Limit*16, maxRefs*2) }

// runChild runs a command with our own input and output, and keeps how it
// ended. A child that is told to end has a few seconds to do so.
func (j *job) runChild(cmd *exec.Cmd) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Start()
	if err == nil {
		j.memory.pid = cmd.Process.Pid
		err = cmd.Wait()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && cmd.ProcessState == nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	j.keepExit(cmd.ProcessState)
	return nil
}

func (j *job) keepExit(state *os.ProcessState) {
	j.rec.Exit = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		j.rec.Exit, j.rec.Signal = 128+int(ws.Signal()), ws.Signal().String()
	}
}

// The layout of the plugin's file.
const (
	pluginMagic  = "isorefs1"
	pluginHead   = 4096
	pluginMaps   = 1 << 20
	pluginRecord = 24
)

// readRecords reads what the plugin wrote.
func (j *job) readRecords(f *os.File) error {
	head := make([]byte, pluginHead+pluginMaps)
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	if !bytes.HasPrefix(head, []byte(pluginMagic)) {
		return fmt.Errorf("%s did not start to record; does the program run under it?", j.rec.Backend)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(head[8*(i+1):]) }
	j.bias = word(0)
	count := word(1)
	j.entered, j.left, j.full = word(2) != 0, word(3) != 0, word(4) != 0
	if word(4) == 2 {
		j.note("the temporary folder is full: the trace is cut")
	}
	maps := head[pluginHead:][:min(word(6), pluginMaps)]
	j.skipped, j.calls = word(7), word(8)
	j.modules = target.ParseMaps(maps)
	if j.rec.Backend == QEMU {
		j.modules = target.ParseEmulatedMaps(maps)
	}
	j.memory.read(j.memory.pid, maps)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if room := (info.Size() - pluginHead - pluginMaps) / pluginRecord; count > uint64(max(room, 0)) {
		return fmt.Errorf("the plugin counts %d records and left %d", count, room)
	}
	records := io.NewSectionReader(f, pluginHead+pluginMaps, int64(count)*pluginRecord)
	if j.rec.Backend == Instrument {
		err := j.plain(records)
		j.sites.finish(head)
		return err
	}
	if err := j.merge(records); err != nil {
		return err
	}
	j.flow.threads, err = j.flow.log.Threads()
	return err
}

// merge reads raw records and puts together what qemu takes apart.
func (j *job) merge(r io.Reader) error {
	m := newMerger(j)
	err := eachRecord(r, func(b []byte) bool {
		if j.memory.library != "" {
			j.memory.raw++
		}
		if b[22] >= recordBlock {
			j.flow.add(b)
			return true
		}
		ref := refs.Ref{Addr: binary.LittleEndian.Uint64(b), PC: binary.LittleEndian.Uint64(b[8:]),
			Thread: binary.LittleEndian.Uint32(b[16:]), Size: uint32(binary.LittleEndian.Uint16(b[20:])), Enters: b[23] != 0}
		if b[22] != 0 {
			ref.Op = refs.Store
		}
		return m.add(ref)
	})
	m.flush()
	return err
}

// eachRecord visits records until one is not wanted.
func eachRecord(r io.Reader, visit func([]byte) bool) error {
	buf := make([]byte, 4096*pluginRecord)
	for {
		n, err := io.ReadFull(r, buf)
		for b := buf[:n-n%pluginRecord]; len(b) > 0; b = b[pluginRecord:] {
			if !visit(b) {
				return nil
			}
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil
		case err != nil:
			return err
		}
	}
}
