package whd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/fault"
)

// result is the result of running the program.
type result struct {
	status         int
	stdout, stderr string
}

// whd runs the program in this process. args are separated by spaces; arguments that may
// contain spaces, such as paths, are quoted.
func whd(stdin, args string, env ...string) result {
	var stdout, stderr bytes.Buffer
	status := Main(Process{
		Args:   splitLine(args),
		Env:    env,
		Stdin:  strings.NewReader(stdin),
		Stdout: &stdout,
		Stderr: &stderr,
	})
	return result{status: status, stdout: stdout.String(), stderr: stderr.String()}
}

// splitLine splits a command line at spaces that are not within single quotes. Outside of
// them, \' is an apostrophe, as in a shell.
func splitLine(line string) (args []string) {
	var arg strings.Builder
	isArg, isQuoted := false, false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\'':
			isArg, isQuoted = true, !isQuoted
		case line[i] == ' ' && !isQuoted:
			if isArg {
				args = append(args, arg.String())
			}
			arg.Reset()
			isArg = false
		default:
			if !isQuoted && strings.HasPrefix(line[i:], `\'`) {
				i++
			}
			arg.WriteByte(line[i])
			isArg = true
		}
	}
	if isArg {
		args = append(args, arg.String())
	}
	return args
}

func quoted(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func TestSplitLine(t *testing.T) {
	paths := []string{"/tmp/plain", "/tmp/a blank", "/tmp/it's a 'name'", `C:\Temp\whd`, "", "'"}
	line := " key  list --data-dir"
	for _, path := range paths {
		line += " " + quoted(path)
	}
	want := append([]string{"key", "list", "--data-dir"}, paths...)
	if got := splitLine(line); !slices.Equal(got, want) {
		t.Errorf("splitLine(%s): got %q, want %q", line, got, want)
	}
}

func TestHelp(t *testing.T) {
	for _, c := range []struct{ args, golden string }{
		{"help", "help.golden"},
		{"help serve", "help-serve.golden"},
		{"help user create", "help-user-create.golden"},
	} {
		got := whd("", c.args)
		if got.status != 0 || got.stderr != "" {
			t.Errorf("whd %s: got %+v, want exit code 0 without errors", c.args, got)
		}
		golden(t, c.golden, got.stdout)
	}
}

func TestHelpFlagIsHelpCommand(t *testing.T) {
	for flag, command := range map[string]string{
		"--help":          "help",
		"key list --help": "help key list",
	} {
		got := whd("", flag)
		want := whd("", command)
		if got != want || got.stdout == "" {
			t.Errorf("whd %s: got %+v, want that of whd %s: %+v", flag, got, command, want)
		}
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range leaves(newApp(Process{}).Commands, "") {
		got := whd("", c.Name+" --help")
		if got.status != 0 || !strings.Contains(got.stdout, "Usage: whd "+c.Name) {
			t.Errorf("whd %s --help: got %+v, want the usage", c.Name, got)
		}
	}
	got := whd("", "user --help")
	if want := "update NAME"; got.status != 0 || !strings.Contains(got.stdout, want) {
		t.Errorf("whd user --help: got %+v, want %q", got, want)
	}
}

func TestUsageErrors(t *testing.T) {
	cases := []struct{ args, want string }{
		{"--zzz", `unknown flag --zzz (see: whd help)`},
		{"--listen :1", `no command given; did you mean whd serve --listen? (see: whd help)`},
		{"srve", `unknown command "srve"; did you mean serve? (see: whd help)`},
		{"srve --demo", `unknown command "srve"; did you mean serve? (see: whd help)`},
		{"srve --listen", `unknown command "srve"; did you mean serve? (see: whd help)`},
		{"srve --demo=maybe", `unknown command "srve"; did you mean serve? (see: whd help)`},
		{"--zzz srve", `unknown flag --zzz (see: whd help)`},
		{"zzzzzz", `unknown command "zzzzzz" (see: whd help)`},
		{"user ad erin", `user has no command "ad"; did you mean create? (see: whd help user)`},
		{"key creat k --role reader", `key has no command "creat"; did you mean create? (see: whd help key)`},
		{"key zzzzzz", `key has no command "zzzzzz"; it has list, create, delete (see: whd help key)`},
		{"help srve", `no help for "srve"; did you mean serve? (see: whd help help)`},
		{"help serve now", `no help for "serve now" (see: whd help help)`},
		{"serve now", `serve takes no argument "now" (see: whd help serve)`},
		{"serve --lisen :1", `serve has no flag --lisen; did you mean --listen? (see: whd help serve)`},
		{"serve --stroe x", `serve has no flag --stroe; did you mean --store? (see: whd help serve)`},
		{"serve --zzz", `serve has no flag --zzz (see: whd help serve)`},
		{"serve --listen --demo", `--listen needs a value: --listen ADDRESS (see: whd help serve)`},
		{"serve --admin-password canary", `serve has no flag --admin-password; did you mean --admin-password-file? (see: whd help serve)`},
		{"serve sqlserver://sa:canary@host", `serve takes no argument "sqlserver://***@host" (see: whd help serve)`},
		{"serve --demo=maybe", `--demo takes no value, except =true or =false (see: whd help serve)`},
		{"serve --new-store=maybe", `--new-store takes no value, except =true or =false (see: whd help serve)`},
		{"user create bob --role reader --password-stdin=canary", `--password-stdin takes no value, except =true or =false (see: whd help user create)`},
		{"user create bob --password-stdin=", `--password-stdin takes no value, except =true or =false (see: whd help user create)`},
		{"version --data-dir x", `version has no flag --data-dir (see: whd help version)`},
		{"config --format yaml", `--format must be text or toml, not "yaml" (see: whd help config)`},
		{"config --format", `--format needs a value: --format text|toml (see: whd help config)`},
		{"user create bob", `user create needs --role reader|publisher|writer|admin (see: whd help user create)`},
		{"user update bob", `user update needs --role, --new-password, --password-stdin or --generate (see: whd help user update)`},
		{"user create --generate", `user create needs NAME (see: whd help user create)`},
		{"user role erin", `user role takes NAME ROLE, got 1 argument (see: whd help user role)`},
	}
	for _, c := range cases {
		got := whd("", c.args, "HOME=/nowhere")
		if got.status != 2 || got.stdout != "" || got.stderr != "whd: "+c.want+"\n" {
			t.Errorf("whd %s: %+v, want %s", c.args, got, c.want)
		}
	}
}

// A command group without a subcommand prints its help, as does the program without a
// command.
func TestGroupWithoutSubcommandPrintsHelp(t *testing.T) {
	for args, help := range map[string]string{
		"":        "help",
		"user":    "help user",
		"users":   "help user",
		"key":     "help key",
		"service": "help service",
	} {
		got := whd("", args)
		want := whd("", help)
		if got != want || got.status != 0 || got.stdout == "" {
			t.Errorf("whd %s: got %+v, want that of whd %s: %+v", args, got, help, want)
		}
	}
}

func TestFlagsCanPrecedeTheSubcommand(t *testing.T) {
	d := newDataDir(t)
	d.run(0, "", "user create erin --role admin --generate")
	flag := "--data-dir " + quoted(d.dir)
	for _, args := range []string{
		"user list " + flag,
		"user " + flag + " list",
		flag + " user list",
	} {
		got := whd("", args)
		if got.status != 0 || !strings.Contains(got.stdout, "erin") {
			t.Errorf("whd %s: got %+v, want a list with erin", args, got)
		}
	}
}

func TestConfigPrintsSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "whd.toml")
	if err := os.WriteFile(file, []byte("[query]\nmax_take = 500\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := whd("", "config --data-dir /srv/whd --config "+quoted(file),
		"WHD_ADMIN_PASSWORD=canary-1", "WHD_LOG_LEVEL=warn", "WHD_LOG_LEVELS=x")
	const warning = "whd: warning: unknown variable WHD_LOG_LEVELS is ignored; did you mean WHD_LOG_LEVEL?\n"
	if got.status != 0 || got.stderr != warning {
		t.Fatalf("whd config: got %+v, want exit code 0 with the warning %q", got, warning)
	}
	if strings.Contains(got.stdout, "canary") {
		t.Errorf("whd config printed\n%s\nwant it without the password", got.stdout)
	}

	// The widths of columns depend on the random name of the directory.
	var lines strings.Builder
	for line := range strings.Lines(got.stdout) {
		line = strings.ReplaceAll(line, file, "whd.toml")
		lines.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	golden(t, "config.golden", lines.String())
}

func TestConfigPrintsSample(t *testing.T) {
	got := whd("", "config --format toml --data-dir x",
		"HOME=/home/erp", "ProgramData=/home/erp", "WHD_ADMIN_PASSWORD=canary-1", "WHD_DEMO=1")
	if want := "# demo = false\n"; got.status != 0 || !strings.Contains(got.stdout, want) {
		t.Errorf("whd config --format toml: got %+v, want %q", got, want)
	}
	if strings.Contains(got.stdout, "canary") {
		t.Errorf("whd config --format toml printed\n%s\nwant it without the password", got.stdout)
	}
}

func TestVersionPrintsSQLiteVersion(t *testing.T) {
	got := whd("", "version")
	if got.status != 0 || !strings.HasPrefix(got.stdout, "whd ") || !strings.Contains(got.stdout, "\nSQLite 3.") {
		t.Errorf("whd version: got %+v, want the versions of whd and SQLite", got)
	}
	if byFlag := whd("", "--version"); byFlag != got {
		t.Errorf("whd --version: got %+v, want %+v", byFlag, got)
	}
}

func TestExitCodes(t *testing.T) {
	cases := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{context.Canceled, 1},
		{fault.New(fault.Conflict, "x"), 1},
		{fault.New(fault.Invalid, "x"), 2},
		{new(config.UsageError), 2},
		{fmt.Errorf("more: %w", new(config.UsageError)), 2},
		{cli.Usagef("x"), 2},
		{fault.New(fault.Unavailable, "x"), 3},
		{errors.Join(fault.New(fault.Unavailable, "x"), errors.New("y")), 3},
	}
	for _, c := range cases {
		if got := cli.ExitCode(exits, c.err); got != c.want {
			t.Errorf("the exit code of the error %v is %d, want %d", c.err, got, c.want)
		}
	}
}

// stalled is a reader of standard error that has stalled until the channel is closed.
type stalled chan struct{}

func (s stalled) Write(text []byte) (int, error) {
	<-s
	return len(text), nil
}

func TestErrorDoesNotWaitForStalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stderr := make(stalled)
		defer close(stderr)
		status := make(chan int, 1)
		go func() { status <- Main(Process{Args: []string{"unknown"}, Stderr: stderr}) }()
		time.Sleep(2 * logQueueGrace)
		select {
		case got := <-status:
			if got != 2 {
				t.Errorf("the program ended with exit code %d, want 2", got)
			}
		default:
			t.Error("the program has not ended")
		}
	})
}

func TestSecondSignalEndsImmediately(t *testing.T) {
	signals := make(chan os.Signal, 2)
	canceled := make(chan struct{})
	result := make(chan error)
	go func() { result <- await(make(chan error), signals, func() { close(canceled) }) }()
	signals <- os.Interrupt
	<-canceled
	signals <- os.Interrupt
	if err := <-result; err == nil || cli.ExitCode(exits, err) != 1 {
		t.Errorf("got %v, want an error with exit code 1", err)
	}
}

func TestFirstSignalWaitsForTheCommand(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signals <- os.Interrupt
	done := make(chan error, 1)
	if err := await(done, signals, func() { done <- nil }); err != nil {
		t.Errorf("got error %v, want that of the command, which is nil", err)
	}
}
