package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/agent"
	"github.com/isobath/isobath/internal/app/demo"
)

// longestMessage bounds what an agent may send in one line.
const longestMessage = 1 << 20

func newMCP() *cobra.Command {
	opt := agent.Options{Version: version}
	cmd := &cobra.Command{
		Use:   "mcp FILE…",
		Short: "Answer agents and editors on standard input and output (Model Context Protocol)",
		Long: `Answer agents and editors on standard input and output, in the Model Context
Protocol. An agent can ask about the FILEs alone: what they hold, findings, ranked
costs, late messages, reuse, advice, differences, and lines of source files that
belong to them. Nothing is written and nothing is run but the verbs that answer.

Every answer has the command that gives it again, the selection it is about, and
where its numbers come from; long ones are shortened and say so.

An entry for a client, such as an editor:

  {"mcpServers": {"isobath": {"command": "isobath", "args": ["mcp", "app.isobath"]}}}`,
		Example: `  isobath mcp before.isobath after.isobath
  isobath mcp traces.otf2 --patience 5m`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("mcp needs the files that may be asked about; see 'isobath help mcp'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			if opt.Bytes < 2000 || opt.Patience <= 0 {
				return usagef("--bytes wants 2000 or more, --patience more than nothing")
			}
			for _, file := range files {
				path, err := askable(file)
				if err != nil {
					return err
				}
				opt.Files = append(opt.Files, path)
			}
			opt.Run = runSelf
			err := agent.New(opt).Serve(cmd.Context(), &mcp.IOTransport{Reader: os.Stdin, Writer: os.Stdout, MaxLineLength: longestMessage})
			if cmd.Context().Err() != nil {
				return nil // asked to end
			}
			return err
		},
	}
	cmd.Flags().IntVar(&opt.Bytes, "bytes", 24_000, "longest answer in `bytes`")
	cmd.Flags().DurationVar(&opt.Patience, "patience", 2*time.Minute, "longest `time` for an answer")
	return cmd
}

// askable is how the verbs that answer, and the commands that are shown, name a
// file: by its whole path, or by the word of an example.
func askable(file string) (string, error) {
	name, ok := exampleNamed(file)
	if !ok {
		paths, err := absolute([]string{file})
		return strings.Join(paths, ""), err
	}
	return file, demo.Known(name)
}

// runSelf runs a verb of this program as a process of its own.
func runSelf(ctx context.Context, args []string) (agent.Output, error) {
	self, err := os.Executable()
	if err != nil {
		return agent.Output{}, err
	}
	var out, messages bytes.Buffer
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0] = os.Args[0] // tests are called by this name
	cmd.Stdout, cmd.Stderr = &out, &messages
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	result := agent.Output{Out: out.Bytes(), Messages: messages.Bytes(), Code: cmd.ProcessState.ExitCode()}
	if errors.As(err, new(*exec.ExitError)) {
		err = nil // the code says it
	}
	return result, err
}
