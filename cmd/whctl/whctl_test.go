package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

var update = flag.Bool("update", false, "write the expected outputs anew")

// TestMain lets tests run the program as a process of its own, under the name
// whctl, and what stories need beside it.
func TestMain(m *testing.M) {
	daemontest.PlayIfLaunched()
	testscript.Main(m, map[string]func(){"whctl": main, "forget-session": forgetSession})
}

// forgetSession spoils the session of a stored login, as if it had ended.
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

// testTimeout is far more than any of these tests needs. It only keeps a broken
// program from running for ever.
const testTimeout = 2 * time.Minute

// trial is one run of the program inside the test.
type trial struct {
	handler  http.HandlerFunc // of the service; nil where none may be asked
	env      map[string]string
	terminal bool
	width    int
	ctx      context.Context
	config   string // directory of the configuration; empty for one that is empty
	stdin    string
	prompter cmdline.Prompter
	now      time.Time // what the clock shows; zero for a usual one
}

// outcome is what a run left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

func (tr trial) run(t testing.TB, args ...string) outcome {
	t.Helper()
	if tr.handler == nil {
		tr.handler = func(http.ResponseWriter, *http.Request) { t.Error("the service was asked") }
	}
	server := httptest.NewServer(tr.handler)
	defer server.Close()
	if tr.config == "" {
		tr.config = t.TempDir()
	}
	env := map[string]string{profile.EnvURL: server.URL, profile.EnvConfig: filepath.Join(tr.config, "config.toml")}
	for name, value := range tr.env {
		env[name] = value
	}
	if tr.ctx == nil {
		tr.ctx = context.Background()
	}
	var stdout, stderr bytes.Buffer
	s := &session{
		Connector: profile.Connector{Env: func(name string) string { return env[name] }, Stdin: strings.NewReader(tr.stdin), Stderr: &stderr},
		stdout:    &stdout,
		terminal:  output.Terminal{Is: tr.terminal, Width: max(tr.width, output.UnknownWidth)},
		prompter:  tr.prompter,
		now:       tr.clock,
	}
	if tr.width > 0 {
		s.terminal.Width = tr.width
	}
	s.prompter.Screen, s.Vault = &stderr, profile.Vault{Env: s.Env, Timeout: testTimeout}
	app := newApp(s)
	app.Commands = append(app.Commands, pokeCommands()...)
	err := dispatch(tr.ctx, app, args)
	report(&stderr, err, s.HowToSignIn)
	return outcome{cmdline.ExitCode(exits, err), stdout.String(), stderr.String()}
}

// clock stands still.
func (tr trial) clock() time.Time {
	if !tr.now.IsZero() {
		return tr.now
	}
	return time.Date(2026, 7, 8, 9, 10, 11, 0, time.UTC)
}

// pokeCommands change something: one in the way of all commands that do, and
// one that forgot to ask.
func pokeCommands() []*cli.Command {
	flags := append(changeFlags(), &cli.BoolFlag{Name: "sweeping"})
	return []*cli.Command{
		{Name: "poke", HideHelp: true, Flags: flags, Action: changes(func(c *cli.Context, _ *session) (change, error) {
			return change{text: "set a value", sweeping: c.Bool("sweeping"), do: func(_ *output.Printer, service *client.Client) error { return poke(c, service) }}, nil
		})},
		{Name: "careless", HideHelp: true, Action: reads(func(c *cli.Context, _ *output.Printer, service *client.Client) error { return poke(c, service) })},
	}
}

func poke(c *cli.Context, service *client.Client) error {
	_, err := service.SetBillValue(c.Context, client.BillField{BillID: "B", StageID: "S", SettingID: "F"}, "x")
	return err
}

// changesCounted counts what changes something, and answers everything.
func changesCounted(changes *int) http.HandlerFunc {
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

// Streaming are the formats that go anywhere, row by row.
func streaming() []string {
	return slices.DeleteFunc(output.FormatNames(), func(name string) bool { return name == "xlsx" || name == "raw" })
}

// rows answers every query with these rows, as a stream or as an envelope.
func rows(total int, lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Query().Get("format") == "json" {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprintf(w, `{"Offset":0,"Results":[%s],"Total":%d,"Meta":{},"ResponseStatus":{}}`, strings.Join(lines, ","), total)
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

// recording keeps the body of the last request.
func recording(body *string, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		*body = string(text)
		then(w, r)
	}
}

func status(code int, errorCode string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"ResponseStatus":{"ErrorCode":%q,"Message":"no good","Errors":[{"FieldName":"Take","Message":"must be a number"}],"Meta":{"RequestId":"4711"}}}`, errorCode)
	}
}

// Golden compares text with a file, or writes it there.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}
