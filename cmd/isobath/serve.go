package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/web"
)

func newServe() *cobra.Command {
	f := serveFlags{noBrowser: true, shared: true}
	cmd := &cobra.Command{
		Use:   "serve RUN…",
		Short: "Show runs to a team: like open, without a browser",
		Long: `Serve shows each RUN to everyone who has the printed address. They can select,
and name selections, but not open other files of yours.`,
		Args: minimumArgs(1, "a run or file to serve"),
		RunE: func(cmd *cobra.Command, files []string) error { return f.serve(cmd, files, nil) },
	}
	f.add(cmd)
	return cmd
}

// minimumArgs is a usage error when too few arguments are given.
func minimumArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return usagef("%s needs %s; see 'isobath %s --help'", cmd.Name(), what, cmd.Name())
		}
		return nil
	}
}

// serveFlags are the flags of the verbs that show the page.
type serveFlags struct {
	port      int
	listen    string
	socket    string
	tokenFile string
	hosts     []string
	compress  bool
	webDir    string
	imports   importFlags
	binary    string
	meshes    []string
	bytes     map[string]int
	accesses  string
	link      string
	linkFile  string
	noBrowser bool
	shared    bool
	page      string // that is shown first; empty: the first that the run fills
	compare   bool   // two runs are shown as A and B
}

func (f *serveFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&f.port, "port", server.DefaultPort, "port on loopback; 0 takes any free one (default 7117, then the next free)")
	flags.Lookup("port").DefValue = "0" // not shown: the text says it better
	flags.StringVar(&f.listen, "listen", "", "address to listen on instead, HOST:PORT or unix:PATH")
	flags.StringVar(&f.socket, "socket", "", "unix socket to listen on; only you can connect to it")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token, made if it does not exist")
	flags.StringSliceVar(&f.hosts, "allow-host", nil, "name under which others reach this server")
	flags.BoolVar(&f.compress, "compress", false, "compress answers, for slow connections (default over ssh)")
	f.imports.add(cmd)
	flags.StringVar(&f.binary, "binary", "", "program of a reference trace, for its source lines")
	flags.StringArrayVar(&f.meshes, "mesh", nil, "mesh of the simulation, for samples: a file, pattern or folder of dumps (repeatable)")
	flags.StringToIntVar(&f.bytes, "cell-bytes", nil, cellBytesUsage)
	flags.StringVar(&f.accesses, "accesses", "", accessesUsage)
	flags.StringVar(&f.link, "link", "", "let ParaView and other viewers connect at `ADDRESS`, as 127.0.0.1:0; needs samples on a mesh")
	flags.StringVar(&f.linkFile, "link-file", "", "with --link: where viewers find address and token (default ~/.cache/isobath/link)")
	flags.StringVar(&f.webDir, "web-dir", "", "folder with the page, in place of the built-in one")
}

// address checks the flags that say where to listen.
func (f *serveFlags) address(cmd *cobra.Command) (server.Address, error) {
	given := 0
	for _, name := range []string{"port", "listen", "socket"} {
		if cmd.Flags().Changed(name) {
			given++
		}
	}
	if given > 1 {
		return server.Address{}, usagef("--port, --listen and --socket exclude each other")
	}
	switch {
	case f.socket != "":
		return server.Address{Listen: "unix:" + f.socket}, nil
	case f.listen != "":
		return server.Address{Listen: f.listen}, nil
	case !cmd.Flags().Changed("port"):
		return server.Address{}, nil
	case f.port == 0:
		return server.Address{Port: server.FreePort}, nil
	case f.port < 0 || f.port > 65535:
		return server.Address{}, usagef("--port %d: want 0 to 65535", f.port)
	}
	return server.Address{Port: f.port}, nil
}

// opener opens what is no file: a method of the loader.
type opener = func(*server.Loader, context.Context) ([]*frame.Run, error)

// serve shows files, or what first opens, until it is interrupted.
func (f *serveFlags) serve(cmd *cobra.Command, files []string, first opener) error {
	ctx := cmd.Context()
	address, err := f.address(cmd)
	if err != nil {
		return err
	}
	files, remove, err := withStdin(cmd, files)
	if err != nil {
		return err
	}
	defer remove()
	if files, err = absolute(files); err != nil {
		return err
	}
	token := rand.Text()
	if f.tokenFile != "" {
		if token, err = server.TokenFile(f.tokenFile); err != nil {
			return err
		}
	}
	reading, err := f.imports.options()
	if err != nil {
		return err
	}
	reading.Warn = func(s string) { fmt.Fprintf(cmd.ErrOrStderr(), "isobath: %s\n", s) }
	loader := server.NewLoader(reading)
	loader.OnDemoMesh = func(path string) bool { return onDemoMesh(ctx, path, f.meshes) }
	references, err := openReferences(ctx, f.accesses)
	if err != nil {
		return err
	}
	defer references.Close()
	loader.Binary, loader.Meshes, loader.CellBytes, loader.References = f.binary, f.meshes, f.bytes, references.Table()
	if len(files) == 0 && first == nil && len(f.meshes) > 0 {
		first = (*server.Loader).OpenMeshes
	}
	s, err := server.New(f.options(budget.Of(ctx), token, address, loader))
	if err != nil {
		return err
	}
	defer s.Close()
	out := cmd.ErrOrStderr()
	if first != nil {
		runs, err := first(loader, ctx)
		if err != nil {
			return err
		}
		for _, r := range runs {
			s.Add(r)
			fmt.Fprintf(out, "isobath: %s\n", r)
		}
		if f.compare && len(runs) == 2 {
			s.CompareFirst(runs[0].ID, runs[1].ID)
		}
	}
	if f.compare && len(files) == 2 && !dataset.Together(files) {
		s.CompareFirst(files[0], files[1])
	}
	if err := importAll(ctx, s, loader, out, files); err != nil {
		return err
	}
	if f.link != "" {
		if err := s.Link(f.link, f.linkFile, func(where string) { fmt.Fprintf(out, "isobath: %s\n", where) }); err != nil {
			return err
		}
	}
	l, err := server.Listen(address)
	if err != nil {
		return err
	}
	url := f.announce(out, l, token)
	// A program that started us reads the address here.
	if !term.IsTerminal(cmd.OutOrStdout()) {
		fmt.Fprintln(cmd.OutOrStdout(), url)
	}
	fmt.Fprintln(out, "isobath: Ctrl-C stops")
	defer f.openBrowser(out, url)()
	return s.Serve(ctx, l)
}

// announce says where the page is.
func (f *serveFlags) announce(out io.Writer, l net.Listener, token string) (url string) {
	fragment := token
	if f.page != "" {
		fragment += "&page=" + f.page
	}
	url, lines := server.Lines(l, fragment, os.Getenv)
	for _, line := range lines {
		fmt.Fprintf(out, "isobath: %s\n", line)
	}
	if !server.Local(l) {
		fmt.Fprintln(out, "isobath: others on the network can reach this port; what they see is protected by the token but not encrypted")
	}
	return url
}

// openBrowser shows the page, if that is wanted and there is a screen; remove takes
// away what the browser was given, when the server ends.
func (f *serveFlags) openBrowser(out io.Writer, url string) (remove func()) {
	if f.noBrowser || f.socket != "" || !server.WantBrowser(os.Getenv) {
		return func() {}
	}
	folder, err := server.OpenBrowser(url)
	if err != nil {
		fmt.Fprintf(out, "isobath: %v; open the address above\n", err)
	}
	return func() { _ = os.RemoveAll(folder) }
}

func (f *serveFlags) options(room *budget.Budget, token string, address server.Address, loader *server.Loader) server.Options {
	opt := server.Options{
		Version: version, Token: token, Hosts: f.hosts, Assets: web.Files(), Index: web.Index(),
		Compress: f.compress || os.Getenv("SSH_CONNECTION") != "",
		Shared:   f.shared,
		Open:     loader.Open,
		Reopen:   loader.Reopen,
		Budget:   room,
		Record:   "isobath record -o run.isobath -- ./program",
	}
	if f.webDir != "" {
		opt.Assets, opt.Index = web.Unpacked{FS: os.DirFS(f.webDir)}, "index.html"
	}
	if host := address.Host(); host != "" {
		opt.Hosts = append(opt.Hosts, host)
	}
	for _, format := range formats.Known {
		opt.Formats = append(opt.Formats, format.Name)
	}
	opt.Faults = faultFolder()
	if dir, err := os.UserConfigDir(); err == nil {
		opt.Recent = filepath.Join(dir, "isobath", "recent.json")
		opt.Kept = filepath.Join(dir, "isobath", "kept")
	}
	return opt
}
