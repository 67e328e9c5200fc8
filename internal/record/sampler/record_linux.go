package sampler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Record runs the program, or attaches to it, and hands everything sampled to
// the sink. It returns when the program ends, the duration is over, it is stopped, or
// ctx is done; in all these cases what was recorded is whole.
func Record(ctx context.Context, opt *Options, sink Sink) (*Outcome, error) {
	if len(opt.Command) == 0 {
		return attach(ctx, opt, sink)
	}
	signals := catch()
	defer signal.Stop(signals)
	// The thread that starts a traced child must be the one that lets it go.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd, err := startStopped(opt)
	if err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	fail := func(err error) (*Outcome, error) {
		_ = cmd.Process.Kill()
		_ = unix.PtraceDetach(pid)
		_ = cmd.Wait()
		return nil, err
	}
	s, refused, err := open(opt, threadsOf(pid))
	if err != nil {
		return fail(err)
	}
	defer s.close()
	if opt.Chosen != nil {
		opt.Chosen(&s.plan, refused)
	}
	if err := present(pid, 0, sink); err != nil {
		return fail(err)
	}
	out := &Outcome{Plan: s.plan, PID: pid, Started: time.Now(), ClockOffset: ClockOffset()}
	s.enable(true)
	if err := unix.PtraceDetach(pid); err != nil {
		return fail(fmt.Errorf("let the program run: %w", err))
	}
	if err := follow(ctx, opt, s, cmd, out, sink, signals); err != nil {
		return nil, err
	}
	return out, nil
}

// startStopped starts the program and returns when it stands before its first
// instruction. Its standard streams, working folder and process group are ours.
func startStopped(opt *Options) (*exec.Cmd, error) {
	cmd := exec.Command(opt.Command[0], opt.Command[1:]...)
	if errors.Is(cmd.Err, exec.ErrDot) {
		cmd.Err = nil // "." in PATH was the user's wish
	}
	cmd.Env = opt.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", opt.Command[0], err)
	}
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(cmd.Process.Pid, &ws, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || !ws.Stopped() {
			return nil, fmt.Errorf("start %s: it did not stop at its beginning: %v", opt.Command[0], err)
		}
		return cmd, nil
	}
}

// follow records until the program ends or the recording is to stop.
func follow(ctx context.Context, opt *Options, s *session, cmd *exec.Cmd, out *Outcome, sink Sink, signals <-chan os.Signal) error {
	done := make(chan *os.ProcessState, 1)
	ended := make(chan struct{})
	pidfd, noPidfd := unix.PidfdOpen(cmd.Process.Pid, 0)
	if noPidfd != nil {
		opt.Instants = nil
	}
	go func() {
		if noPidfd == nil {
			ends(pidfd)
		}
		_ = cmd.Wait()
		done <- cmd.ProcessState
		close(ended)
	}()
	d := newDrainer(s, sink, opt.Instants)
	d.start()
	out.End = wait(ctx, opt, cmd.Process, ended, signals)
	out.Elapsed = time.Since(out.Started)
	s.enable(false)
	var err error
	out.Losses, err = d.finish()
	select {
	case <-ended:
		state := <-done
		out.Status, out.Signal = statusOf(state)
		if out.Signal != 0 && out.End == Exited {
			out.End = Killed
		}
		out.User, out.System = state.UserTime(), state.SystemTime()
	default:
		out.Running = &Program{done: done}
	}
	return err
}

// ends returns when a process has ended. Whoever waits for a child in any other way is
// told of each time that it is stopped to be looked at, in place of who stopped it.
func ends(pidfd int) {
	defer unix.Close(pidfd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1)
		if n > 0 || err != unix.EINTR {
			return
		}
	}
}

// catch takes the signals that end a recording or are meant for the program,
// from before it starts: none may end us in between.
func catch() chan os.Signal {
	signals := make(chan os.Signal, 8)
	for _, s := range []os.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGUSR1, unix.SIGUSR2} {
		if !signal.Ignored(s) { // as nohup makes it
			signal.Notify(signals, s)
		}
	}
	return signals
}

// Times a program has to end after Ctrl-C: by itself, since the terminal sends
// it the signal too; and after we ask it.
const (
	graceSelf  = 2 * time.Second
	graceAsked = 3 * time.Second
)

// wait returns when the recording is over. The first request to stop waits for
// the program to end, then asks it to; a second Ctrl-C stops at once.
func wait(ctx context.Context, opt *Options, p *os.Process, ended <-chan struct{}, signals <-chan os.Signal) End {
	var timeUp, patience <-chan time.Time
	if opt.Duration > 0 {
		timeUp = time.After(opt.Duration)
	}
	asked, interrupts, canceled := false, 0, ctx.Done()
	stop := func() {
		canceled = nil
		if patience == nil {
			patience = time.After(graceSelf)
		}
	}
	for {
		select {
		case <-ended:
			if patience != nil || interrupted(signals) {
				return Interrupted
			}
			return Exited
		case <-timeUp:
			return TimeUp
		case <-opt.Stop:
			return Stopped
		case <-canceled:
			stop()
		case sig := <-signals:
			switch sig {
			case unix.SIGINT:
				if interrupts++; interrupts > 1 {
					return Interrupted
				}
				if !foreground() {
					_ = p.Signal(sig) // else the terminal sends it to the program too
				}
				stop()
			case unix.SIGTERM, unix.SIGHUP:
				_ = p.Signal(sig)
				stop()
			default:
				if sig == unix.SIGUSR1 && opt.Asked != nil {
					opt.Asked()
				} else {
					_ = p.Signal(sig)
				}
			}
		case <-patience:
			if asked {
				return Interrupted
			}
			asked, patience = true, time.After(graceAsked)
			_ = p.Signal(unix.SIGTERM)
		}
	}
}

// foreground reports whether we are what the terminal sends Ctrl-C to.
func foreground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// entered reports whether Enter was pressed at a terminal. What is typed while
// another program has the terminal is that program's, and reading it would stop us.
func entered(keys *os.File) bool {
	if keys == nil {
		return false
	}
	ready := []unix.PollFd{{Fd: int32(keys.Fd()), Events: unix.POLLIN}}
	if n, err := unix.Poll(ready, 0); err != nil || n == 0 || ready[0].Revents&unix.POLLIN == 0 || !foreground() {
		return false
	}
	line := make([]byte, 4096)
	n, err := unix.Read(int(ready[0].Fd), line)
	return err == nil && bytes.IndexByte(line[:max(n, 0)], '\n') >= 0
}

// interrupted reports whether Ctrl-C is under way: the program may have ended of
// it before we have heard of it.
func interrupted(signals <-chan os.Signal) bool {
	stops := func(sig os.Signal) bool { return sig == unix.SIGINT || sig == unix.SIGTERM || sig == unix.SIGHUP }
	late := time.After(20 * time.Millisecond)
	for {
		select {
		case sig := <-signals:
			if stops(sig) {
				return true
			}
		case <-late: // where both are ready, the signal counts
			for len(signals) > 0 {
				if stops(<-signals) {
					return true
				}
			}
			return false
		}
	}
}

// attach records processes that are there already.
func attach(ctx context.Context, opt *Options, sink Sink) (*Outcome, error) {
	asked := make(chan os.Signal, 1)
	if opt.Asked != nil {
		signal.Notify(asked, unix.SIGUSR1)
		defer signal.Stop(asked)
	}
	of, err := chosen(opt)
	if err != nil {
		return nil, err
	}
	defer of.close()
	s, refused, err := open(opt, of)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if opt.Chosen != nil {
		opt.Chosen(&s.plan, refused)
	}
	out := &Outcome{Plan: s.plan, PID: opt.PID, Started: time.Now(), ClockOffset: ClockOffset(), End: Interrupted}
	// What they map from here on is in records, which are handed on after what they
	// have mapped by now: nothing falls between the two.
	s.enable(true)
	known, err := of.present(opt, sink)
	if err != nil {
		return nil, err
	}
	d := newDrainer(s, sink, opt.Instants)
	d.known = known
	d.start()
	var timeUp <-chan time.Time
	if opt.Duration > 0 {
		timeUp = time.After(opt.Duration)
	}
	gone := time.NewTicker(100 * time.Millisecond)
	defer gone.Stop()
	for watching := true; watching; {
		select {
		case <-ctx.Done():
			watching = false
		case <-asked:
			opt.Asked()
		case <-timeUp:
			out.End, watching = TimeUp, false
		case <-opt.Stop:
			out.End, watching = Stopped, false
		case <-gone.C:
			if opt.Asked != nil && entered(opt.Keys) {
				opt.Asked()
			}
			if of.ended(opt) {
				out.End, watching = Exited, false
			}
		}
	}
	out.Elapsed = time.Since(out.Started)
	s.enable(false)
	out.Losses, err = d.finish()
	return out, err
}

// ClockOffset compares the time of day with the clock of samples.
func ClockOffset() int64 {
	t := monotonic()
	if t == 0 {
		return 0
	}
	return time.Now().UnixNano() - int64(t)
}

// monotonic reads the clock of samples; 0 if that is not possible.
func monotonic() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return uint64(t.Nano())
}
