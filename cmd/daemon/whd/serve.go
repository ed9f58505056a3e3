package whd

import (
	"bytes"
	"log"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/daemon/docs"
	"github.com/bizhook/whd/cmd/internal/cli"
	clientdocs "github.com/bizhook/whd/cmd/whctl/docs"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/access"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/service"
)

// serving is the command serve.
type serving struct{ *base }

func (p serving) commands() []*urfave.Command {
	newStore := &urfave.BoolFlag{
		Name:  "new-store",
		Usage: "create a new store if the files of the previous one are missing",
	}
	freshStore := &urfave.BoolFlag{
		Name:  "fresh-store",
		Usage: "start with new files although the ERP's database contains whd's data of an earlier installation",
	}
	return []*urfave.Command{{
		Name:   "serve",
		Usage:  "run the HTTP service until a signal stops it",
		Action: p.serve,
		Flags:  append([]urfave.Flag{newStore, freshStore}, p.settingFlags()...),
	}}
}

// serve runs the daemon until the context is cancelled or a service manager stops it.
func (p serving) serve(c *urfave.Context) (err error) {
	supervisor, err := service.Find(p.Env)
	if err != nil {
		return err
	}
	defer func() { supervisor.End(cli.ExitCode(exits, err), err) }()
	conf, err := p.config()
	if err != nil {
		return err
	}
	conf.Start.NewStore = c.Bool("new-store")
	conf.Start.Fresh = c.Bool("fresh-store")
	conf.Start.Service = supervisor.Managed()
	conf.Start.Manual = config.Manual{Service: docs.Files, Client: clientdocs.Files}
	var reloads <-chan os.Signal
	if p.Reloads != nil {
		reloads = p.Reloads()
	}

	ballast := tuneRuntime()
	defer runtime.KeepAlive(ballast)

	lines := newLogQueue(p.Stderr)
	defer lines.Close()
	conf.Start.LostLines = lines.Lost
	handler := newLog(lines, conf.Log.Format)
	log.SetOutput(libraryLog{log: slog.New(handler)})
	defer log.SetOutput(p.Stderr)

	logged := supervisor.Log(handler)
	if conf.File != "" && access.Privileged() {
		if err := service.CheckOwnSettings(conf.File); err != nil {
			logged.Warn("settings", "warning", err.Error())
		}
	}

	run := daemon.Run{
		Config:     conf,
		Out:        p.Stdout,
		Log:        logged,
		Supervisor: supervisor,
		Reloads:    reloads,
		FlushLog:   lines.Flush,
		Reread:     p.settings,
	}
	return run.Serve(c.Context)
}

// newLog returns the handler of the daemon's log, which writes to lines, and starts writing.
func newLog(lines *logQueue, format string) slog.Handler {
	// The daemon filters by log.level, which can change at a reload.
	options := &slog.HandlerOptions{Level: slog.LevelDebug}
	var handler slog.Handler = slog.NewTextHandler(lines, options)
	if format == "json" {
		handler = slog.NewJSONHandler(lines, options)
	}
	lines.start(func(lost int64) {
		slog.New(handler).Warn("standard error was not read; log lines were dropped", "lost", lost)
	})
	return handler
}

// libraryLog logs the lines that libraries write with package log. net/http quotes data there that
// endpoints send on idle connections, so lines are cut, and logged at level debug only.
type libraryLog struct{ log *slog.Logger }

const maxLibraryLine = 200 // bytes

func (l libraryLog) Write(line []byte) (int, error) {
	text := bytes.TrimSpace(line[:min(len(line), maxLibraryLine)])
	l.log.Debug(string(text), "from", "library")
	return len(line), nil
}

// tuneRuntime sets the garbage collection and the number of threads, unless the environment does.
// It returns the ballast, which must be kept alive while the daemon runs.
func tuneRuntime() (ballast []byte) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < minProcs {
		runtime.GOMAXPROCS(minProcs)
	}
	return make([]byte, ballastSize)
}

// minProcs is how many threads run Go code at a time at least. A thread that writes a large
// response is in the kernel for long, and Go starts others in its place only after a while: with
// two, on a machine with two processors, a few large responses delay all other requests. With
// four the kernel divides the processors fairly.
const minProcs = 4

// ballastSize is the size of an allocation that is never touched and so uses no physical memory.
// It delays garbage collection, which depends on the size of the heap: with a few megabytes in
// use, it would run hundreds of times a second and take a sixth of the cost of a small query.
const ballastSize = 32 << 20

// gcPercent is how much the heap with the ballast grows until the next garbage collection. With
// Go's 100 and half the ballast small heaps are collected as often, but the garbage of large ones
// takes 20 MB more while 3,000 hostile connections are open.
const gcPercent = 60
