package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/app/server/messages"
	"github.com/isobath/isobath/internal/messages/timeline"
)

// sliderMoves is how often the slider is moved.
const sliderMoves = 30

// slider measures one move of the slider of the what-if panel as the page makes
// it: the prediction, and the changed run in both timelines, of a trace of 20,000
// calls. The median of many moves, each to another place.
func slider(ctx context.Context, dir, program string) ([]Result, error) {
	path := filepath.Join(dir, "halo", "traces.otf2")
	if err := simulateHalo(path, 4, 4, 120); err != nil { // 11 calls a rank and iteration
		return nil, err
	}
	s, err := serve(ctx, program, path)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	var runs struct {
		Runs []struct{ ID string }
	}
	if err := s.ask(ctx, http.MethodGet, "runs", nil, &runs); err != nil || len(runs.Runs) != 1 {
		return nil, fmt.Errorf("the server has %d runs: %w", len(runs.Runs), err)
	}
	trace := "runs/" + runs.Runs[0].ID + "/trace"
	var info messages.TraceInfo
	if err := s.ask(ctx, http.MethodPost, trace, messages.TraceAsk{}, &info); err != nil {
		return nil, err
	}
	var moves timings
	for i := range sliderMoves + 1 {
		change := []string{fmt.Sprintf("rank 5 * %.3f", 1-float64(i)/sliderMoves)}
		begin := time.Now()
		if err := s.ask(ctx, http.MethodPost, trace+"/gains", messages.GainsAsk{Changes: change}, nil); err != nil {
			return nil, err
		}
		logical := timeline.Window{To: float64(info.Report.Steps), Columns: 1200, Lines: 300}
		physical := timeline.Window{To: float64(info.Report.SpanNS), Columns: 1200, Lines: 300}
		ask := messages.PictureAsk{Changes: change, Logical: &logical, Physical: &physical}
		if err := s.ask(ctx, http.MethodPost, trace+"/picture", ask, nil); err != nil {
			return nil, err
		}
		if i > 0 { // the first ranks the causes
			moves = append(moves, milliseconds(time.Since(begin)))
		}
	}
	return []Result{limit("whatif-slider", moves.median(), "ms", 50)}, nil
}

// server is the program serving a file on loopback.
type server struct {
	command *exec.Cmd
	origin  string
	token   string
}

// serve starts the program and waits for the address it prints.
func serve(ctx context.Context, program, path string) (*server, error) {
	command := exec.CommandContext(ctx, program, "serve", path, "--port", "0")
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	s := &server{command: command}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("no address: %w", err)
	}
	at, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		s.stop()
		return nil, err
	}
	s.origin = at.Scheme + "://" + at.Host
	s.token = strings.TrimPrefix(at.Fragment, "k=")
	return s, nil
}

func (s *server) stop() {
	_ = s.command.Process.Signal(os.Interrupt)
	_ = s.command.Wait() // ended by the signal
}

// ask puts a question and reads the whole answer, into a value if there is one.
func (s *server) ask(ctx context.Context, method, path string, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, s.origin+"/api/v1/"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("X-Isobath-Token", s.token)
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		return err
	}
	if got.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, got.Status, body)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(body, answer)
}
