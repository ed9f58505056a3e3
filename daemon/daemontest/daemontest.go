// Package daemontest runs daemons in tests, in the test process or in a separate one, with
// a real store in a temporary directory, and real HTTP on a free port.
package daemontest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/cmd/daemon/docs"
	"github.com/bizhook/whd/cmd/daemon/whd"
	clientdocs "github.com/bizhook/whd/cmd/whctl/docs"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/config"
)

// AdminPassword is the password of the user admin in tests.
const AdminPassword = "a password for tests only"

// Instance is a running daemon.
type Instance struct {
	URL    string
	Dir    string // the data directory
	Log    *Log
	Daemon *daemon.Daemon

	args     []string
	settings map[string]string // overrides made by Set, by name
}

// Start runs a daemon until the test ends. The arguments are those of `whd serve`, in
// addition to the address, the data directory and, without --erp and --store, demo
// records. Failures end the test.
func Start(t testing.TB, args ...string) *Instance {
	t.Helper()
	return StartIn(t, t.TempDir(), args...)
}

// StartIn is Start with an existing data directory. An empty one is filled as by an
// earlier start; only Open does a first start.
func StartIn(t testing.TB, dir string, args ...string) *Instance {
	t.Helper()
	if err := prepare(dir, args); err != nil {
		t.Fatal(err)
	}
	i, err := Open(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Stop(); err != nil {
			t.Error(err)
		}
	})
	return i
}

// Open starts a daemon on a data directory. The caller must call Stop. The error is that
// of the settings, of daemon.New or of Daemon.Start.
func Open(dir string, args ...string) (*Instance, error) {
	args = flags(dir, args)
	i := &Instance{Dir: dir, Log: NewLog(), args: args, settings: make(map[string]string)}
	conf, err := i.config()
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(i.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	i.Daemon, err = daemon.New(context.Background(), conf, io.Discard, log)
	if err != nil {
		return nil, err
	}
	if err := i.Daemon.Start(context.Background()); err != nil {
		return nil, errors.Join(err, i.Stop())
	}
	i.URL = i.Daemon.URL()
	return i, nil
}

// flags returns the arguments of `whd serve`.
func flags(dir string, args []string) []string {
	args = append([]string{"--listen", "127.0.0.1:0", "--data-dir", dir}, args...)
	if !slices.Contains(args, "--erp") && !slices.Contains(args, "--store") {
		args = append(args, "--erp", string(config.Demo))
	}
	return args
}

// config reads the settings. The log level is debug unless the test has set log.level.
func (i *Instance) config() (config.Config, error) {
	env := []string{"WHD_ADMIN_PASSWORD=" + AdminPassword}
	for name, text := range i.settings {
		variable := "WHD_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
		env = append(env, variable+"="+text)
	}
	conf, err := Settings(i.args, env...)
	conf.Start.Manual = config.Manual{Service: docs.Files, Client: clientdocs.Files}
	if i.settings["log.level"] == "" {
		conf.Log.Level = "debug"
	}
	return conf, err
}

// Settings reads settings from args, the flags of whd serve, and from env, environment
// variables of the form NAME=value.
func Settings(args []string, env ...string) (config.Config, error) {
	var layer config.Layer
	flagSet := flag.NewFlagSet("", flag.ContinueOnError)
	flagSet.SetOutput(io.Discard)
	for _, f := range config.Flags(&layer) {
		set := func(text string) error {
			f.Set(text)
			return nil
		}
		if f.Argument == "" {
			flagSet.BoolFunc(f.Name, f.Help, set)
		} else {
			flagSet.Func(f.Name, f.Help, set)
		}
	}
	err := flagSet.Parse(args)
	if err != nil || flagSet.NArg() > 0 {
		return config.Config{}, fmt.Errorf("%q: %v", flagSet.Args(), err)
	}
	conf, err := config.Read(layer, env)
	conf.Start.Version = "dev"
	conf.Start.CheapHashes = true
	return conf, err
}

// Set changes a setting of the running daemon that can change without a restart. An empty
// text resets it to its default.
func (i *Instance) Set(t testing.TB, name, text string) {
	t.Helper()
	i.settings[name] = text
	conf, err := i.config()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := i.Daemon.Reload(conf); err != nil {
		t.Fatal(err)
	}
}

// timeout limits Stop and Await.
const timeout = 2 * time.Minute

// Stop shuts the daemon down after the requests in flight have ended. Further calls do
// nothing.
func (i *Instance) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return i.Daemon.Stop(ctx)
}

// Key creates an API key with a role and returns it. The key's name starts with the role.
func (i *Instance) Key(t testing.TB, role string) string {
	t.Helper()
	var key, stderr bytes.Buffer
	status := whd.Main(whd.Process{
		Args:   []string{"key", "add", role + " " + rand.Text(), "--role", role, "--data-dir", i.Dir},
		Stdout: &key,
		Stderr: &stderr,
	})
	if status != 0 {
		t.Fatalf("whd key add: %s", &stderr)
	}
	return strings.TrimSpace(key.String())
}

// Log collects the daemon's log. It is safe for concurrent use.
type Log struct {
	mu    sync.Mutex
	text  strings.Builder
	grown chan struct{} // closed when a line is added, and replaced then
}

// NewLog returns an empty log.
func NewLog() *Log { return &Log{grown: make(chan struct{})} }

// Write adds a line.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.grown)
	l.grown = make(chan struct{})
	return l.text.Write(b)
}

// String returns the whole log so far.
func (l *Log) String() string {
	text, _ := l.read()
	return text
}

// read returns the log so far, and a channel that is closed when it grows.
func (l *Log) read() (text string, grown <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String(), l.grown
}

// Await waits for a line that contains all the parts, and returns it. It fails the test
// after two minutes.
func (l *Log) Await(t testing.TB, parts ...string) string {
	t.Helper()
	expired := time.After(timeout)
	for {
		text, grown := l.read()
		for line := range strings.Lines(text) {
			lacks := func(part string) bool { return !strings.Contains(line, part) }
			if !slices.ContainsFunc(parts, lacks) {
				return line
			}
		}
		select {
		case <-grown:
		case <-expired:
			t.Fatalf("no line with %q in the log:\n%s", parts, text)
		}
	}
}
