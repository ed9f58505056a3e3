package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestMain makes whctl and the helper commands of the scripts available as separate
// processes.
func TestMain(m *testing.M) {
	daemontest.RunIfLaunched()
	isCommandOfScript := !strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")
	if !isCommandOfScript {
		for _, variable := range os.Environ() {
			name, _, _ := strings.Cut(variable, "=")
			if strings.HasPrefix(name, "WHCTL_") {
				os.Unsetenv(name) // set by the README's commands
			}
		}
		if signal.Ignored(syscall.SIGHUP) {
			// Under nohup. Processes inherit that a signal is ignored, but not that it is handled.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
		}
	}
	testscript.Main(programTests{m}, map[string]func(){
		"whctl":          main,
		"forget-session": forgetSession,
	})
}

// forgetSession replaces the session in the login file given as its argument with an
// invalid one, as if it had ended.
func forgetSession() {
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		text = regexp.MustCompile(`session = .*`).ReplaceAll(text, []byte(`session = "forgotten"`))
		err = os.WriteFile(os.Args[1], text, 0o600)
	}
	if err != nil {
		panic(err)
	}
}

// testTimeout ends a program that hangs. It is far longer than any test takes.
const testTimeout = 2 * time.Minute

// invocation is a run of whctl in the process of the test.
type invocation struct {
	handler  http.HandlerFunc // of the service; nil if no request is expected
	kinds    http.HandlerFunc // of the list of record kinds; nil for a service of an earlier version
	env      map[string]string
	terminal bool
	colours  bool
	width    int // in cells; 0 for a default, which is none without a terminal
	ctx      context.Context
	config   string // directory of the configuration; empty for a new one
	stdin    string
	prompter cmdline.Prompter
	now      time.Time // current time; zero for a default
}

// result is the result of a run.
type result struct {
	code           int
	stdout, stderr string
}

func (r result) String() string {
	return fmt.Sprintf("exit code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
}

// adminEnv returns the environment variables of the admin of a service.
func adminEnv(url string) map[string]string {
	return map[string]string{
		profile.EnvURL:      url,
		profile.EnvUser:     "admin",
		profile.EnvPassword: daemontest.AdminPassword,
	}
}

// run runs whctl with arguments.
func (inv invocation) run(t testing.TB, args ...string) result {
	t.Helper()
	if inv.handler == nil {
		inv.handler = func(http.ResponseWriter, *http.Request) { t.Error("unexpected request") }
	}
	if inv.config == "" {
		inv.config = t.TempDir()
	}
	env := map[string]string{
		profile.EnvURL:    inv.serve(t),
		profile.EnvConfig: filepath.Join(inv.config, "config.toml"),
	}
	maps.Copy(env, inv.env)
	if inv.ctx == nil {
		inv.ctx = context.Background()
	}
	if inv.terminal {
		inv.width = cmp.Or(inv.width, output.UnknownWidth)
	}
	var stdout, stderr bytes.Buffer
	s := &command.Session{
		Connector: profile.Connector{
			Env:      func(name string) string { return env[name] },
			Stdin:    strings.NewReader(inv.stdin),
			Stderr:   &stderr,
			Version:  cmdline.Version(),
			DryRun:   showRequest,
			DryRunTo: &stdout,
		},
		Stdout: &stdout,
		Terminal: output.Terminal{
			IsTerminal: inv.terminal,
			Colours:    inv.colours,
			Width:      inv.width,
		},
		Prompter: inv.prompter,
		Now:      inv.clock,
	}
	s.Prompter.Screen = &stderr
	s.Vault = profile.Vault{Env: s.Env, Timeout: testTimeout}
	app := newApp(s)
	app.Commands = append(app.Commands, testCommands()...)
	err := dispatch(inv.ctx, s, app, args)
	report(&stderr, err, s.HowToSignIn)
	return result{cmdline.ExitCode(exits, err), stdout.String(), stderr.String()}
}

// serve serves the handlers until the test ends.
func (inv invocation) serve(t testing.TB) (url string) {
	handler := withoutKinds(inv.handler)
	if inv.kinds != nil {
		handler = func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/Kinds" {
				inv.kinds(w, r)
			} else {
				inv.handler(w, r)
			}
		}
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// withoutKinds makes a handler that of a service without a list of record kinds.
func withoutKinds(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/Kinds" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		handler(w, r)
	}
}

// clock returns a fixed time.
func (inv invocation) clock() time.Time {
	if !inv.now.IsZero() {
		return inv.now
	}
	return time.Date(2026, 7, 8, 9, 10, 11, 0, time.UTC)
}

// testCommands returns the command poke, which changes data with the usual confirmation, and
// careless, which is wrongly declared as read-only.
func testCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name:     "poke",
			Hidden:   true,
			HideHelp: true,
			Flags:    append(command.ChangeFlags(), &cli.BoolFlag{Name: "sweeping"}),
			Action: command.Changes(func(c *cli.Context, _ *command.Session) (command.Change, error) {
				return command.Change{
					Text:     "set a value",
					Sweeping: c.Bool("sweeping"),
					Do: func(_ *output.Printer, service *client.Client) error {
						return poke(c, service)
					},
				}, nil
			}),
		},
		{
			Name:     "careless",
			Hidden:   true,
			HideHelp: true,
			Action: command.Reads(
				func(c *cli.Context, _ *output.Printer, service *client.Client) error {
					return poke(c, service)
				}),
		},
	}
}

// poke sends a change.
func poke(c *cli.Context, service *client.Client) error {
	field := client.BillField{BillID: "B", StageID: "S", SettingID: "F"}
	_, err := service.SetBillValue(c.Context, field, "x")
	return err
}

// countChanges counts the PATCH requests and replies to all requests.
func countChanges(changes *int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPatch {
			rows(1, d1)(w, r)
			return
		}
		*changes++
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"SettingID":"F","Contents":"x"}`)
	}
}

// streaming returns the formats that need no file and are written row by row.
func streaming() []string {
	return slices.DeleteFunc(output.FormatNames(), func(name string) bool {
		return name == "xlsx" || name == "raw"
	})
}

// rows replies to every query with these rows, as a stream or as an envelope.
func rows(total int, lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Query().Get("format") == "json" {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprintf(w, `{"Offset":0,"Results":[%s],"Total":%d,"Meta":{},"ResponseStatus":{}}`,
				strings.Join(lines, ","), total)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("Trailer", wire.HeaderRowCount)
		for _, line := range lines {
			io.WriteString(w, line+"\n")
		}
		w.(http.Flusher).Flush()
		w.Header().Set(wire.HeaderRowCount, fmt.Sprint(len(lines)))
	}
}

// recordBody stores the body of the last request and calls the handler.
func recordBody(body *string, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		*body = string(text)
		handler(w, r)
	}
}

// status replies with an error of the service.
func status(code int, errorCode string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"ResponseStatus":{"ErrorCode":%q,"Message":"no good",`+
			`"Errors":[{"FieldName":"Take","Message":"must be a number"}],`+
			`"Meta":{"RequestId":"4711"}}}`, errorCode)
	}
}

// golden compares text with a golden file; with -update it rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	goldentest.Compare(t, filepath.Join("testdata", name+".golden"), got)
}
