package whd

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// dataDir is a data directory to run commands on.
type dataDir struct {
	t   *testing.T
	dir string
}

func newDataDir(t *testing.T) dataDir { return dataDir{t, t.TempDir()} }

// run runs a command and checks its exit code.
func (d dataDir) run(status int, stdin, args string) result {
	d.t.Helper()
	got := whd(stdin, args+" --data-dir "+quoted(d.dir))
	if got.status != status {
		d.t.Fatalf("whd %s: %+v, want exit code %d", args, got, status)
	}
	return got
}

// step is a command with its expected exit code and a part of its standard error.
type step struct {
	stdin, args string
	status      int
	stderr      string
}

// runSteps runs commands one after the other.
func (d dataDir) runSteps(steps []step) {
	d.t.Helper()
	for _, s := range steps {
		got := d.run(s.status, s.stdin, s.args)
		if !strings.Contains(got.stderr, s.stderr) {
			d.t.Errorf("whd %s: standard error is %q, want it to contain %q", s.args, got.stderr, s.stderr)
		}
	}
}

// withPassword is the standard input with a valid password.
const withPassword = "erin-test-password\n"

func TestUserCommands(t *testing.T) {
	d := newDataDir(t)
	d.runSteps([]step{
		{stdin: withPassword, args: "user create erin --role reader --password-stdin", stderr: "no user is an admin"},
		{args: "user create adam --role admin --generate", stderr: "not shown again"},

		{stdin: withPassword, args: "user create ERIN --role reader --password-stdin", status: 1, stderr: "already exists"},
		{stdin: "short\n", args: "user create sam --role reader --password-stdin", status: 2, stderr: "Password: must have at least"},
		{stdin: "\n", args: "user create sam --role reader --password-stdin", status: 2, stderr: "the password is empty"},
		{args: "user create sam --role reader --password-stdin", status: 2, stderr: "the password is empty"},
		{args: "user create sam --role reader", status: 2, stderr: "use --password-stdin or --generate"},
		{args: "user create sam --role reader --generate --password-stdin", status: 2, stderr: "cannot be combined"},
		{args: "user create sam --generate", status: 2, stderr: "needs --role reader|publisher|writer|admin"},
		{args: "user create sam --role boss --generate", status: 2, stderr: `the role must be one of reader, publisher, writer, admin, not "boss"`},

		{args: "user role erin writer"},
		{args: "user role ghost writer", status: 1, stderr: "no user"},
		{args: "user role adam reader", status: 1, stderr: "last admin"},
		{args: "user password erin --generate", stderr: "not shown again"},

		{args: "user update erin --generate", stderr: "not shown again"},
		{args: "user update erin --role writer"},
		{args: "user update adam --role reader --generate", status: 1, stderr: "last admin"},
		{stdin: withPassword, args: "user update erin --role boss --password-stdin", status: 2, stderr: "must be one of"},
		{args: "user update ghost --role writer", status: 1, stderr: "no user"},
		{args: "user change erin --role writer"},

		{args: "users add sam --role reader --generate", stderr: "not shown again"},
		{args: "user remove sam"},
		{args: "user delete adam", status: 1, stderr: "last admin"},
	})
	got := d.run(0, "", "user list").stdout
	want := regexp.MustCompile(`(?s)^NAME +ROLE +ADDED\nadam +admin +20.*\nerin +writer +20.*Z\n$`)
	if !want.MatchString(got) {
		t.Errorf("user list printed\n%s\nwant\n%s", got, want)
	}
	d.runSteps([]step{
		{args: "user delete erin"},
		{args: "user delete erin", status: 1, stderr: "no user"},
	})
}

func TestStdoutIsOnlyTheGeneratedPassword(t *testing.T) {
	got := newDataDir(t).run(0, "", "user create adam --role admin --generate").stdout
	want := regexp.MustCompile(`^[A-Z2-7]{26}\n$`)
	if !want.MatchString(got) {
		t.Errorf("standard output is %q, want %s", got, want)
	}
}

func TestKeyCommands(t *testing.T) {
	d := newDataDir(t)
	created := d.run(0, "", "key create reports --role reader --expires never")
	if !regexp.MustCompile(`^whd_\S+\n$`).MatchString(created.stdout) {
		t.Errorf("key create printed %q, want a key", created.stdout)
	}
	if want := "expires: never"; !strings.Contains(created.stderr, want) {
		t.Errorf("key create reported %q, want %q", created.stderr, want)
	}
	d.runSteps([]step{
		{args: "key create sales --role publisher", stderr: "expires: 20"},
		{args: "key create reports --role reader", status: 1},
		{
			args:   "key create other --role reader --expires soon",
			status: 2,
			stderr: `--expires: "soon" is not a duration such as 30s, 8h or 14d; use never for a key that does not expire`,
		},
		{args: "key create other", status: 2, stderr: "needs --role"},
		{args: "key delete sales", stderr: "API key sales revoked"},
		{args: "keys add sales --role reader", stderr: "expires: 20"},
		{args: "key remove sales"},
		{args: "key delete sales", status: 1, stderr: "no API key"},
	})

	list := d.run(0, "", "key list").stdout
	want := regexp.MustCompile(`^ID +NAME +ROLE +ADDED +EXPIRES +LAST USED\n\S+ +reports +reader +20.*Z +never +never\n$`)
	if !want.MatchString(list) {
		t.Errorf("key list printed\n%s\nwant\n%s", list, want)
	}
	if strings.Contains(list, strings.TrimSpace(created.stdout)) {
		t.Errorf("key list printed\n%s\nwant no secrets", list)
	}
}

// TestKeyFromFile creates keys that clients have already.
func TestKeyFromFile(t *testing.T) {
	const existing = "kQ3-2_yZ9aBcDeFgHiJkLmNoPqRsTuVw"
	const warning = "other users can read"
	d := newDataDir(t)
	file := filepath.Join(t.TempDir(), "old-key.txt")
	for _, test := range []struct {
		content string
		status  int
	}{
		{content: existing + "\r\n"},
		{content: "", status: 2},
		{content: "\ufeff\r\n", status: 2},
		{content: "   \n", status: 2},
		{content: "short\n", status: 2},
	} {
		if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got := d.run(test.status, "", "key add erp --role publisher --key-file "+quoted(file))
		if got.stdout != "" || strings.Contains(got.stderr, existing) {
			t.Errorf("a file with %q: got %+v, want no output with the key", test.content, got)
		}
		if strings.Contains(got.stderr, warning) {
			t.Errorf("a private file with %q: got the warning %q", test.content, got.stderr)
		}
	}

	d.runSteps([]step{
		{args: "key delete erp"},
		{args: "key add erp --role reader --key-file " + quoted(file+".missing"), status: 1, stderr: "no such file"},
	})
}

// TestKeyFromFileOfWindows takes over a key from a file with a byte order mark, as Notepad and
// PowerShell write it.
func TestKeyFromFileOfWindows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "old-key.txt")
	const text = "\ufeffkQ3-2_yZ9aBcDeFgHiJkLmNoPqRsTuVw\r\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	newDataDir(t).run(0, "", "key create erp --role publisher --key-file "+quoted(file))
}

// TestModeOfKeyFile checks that a file which others can read or replace causes a warning.
func TestModeOfKeyFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the mode does not show the accounts that can read a file")
	}
	const warning = "warning: other users can read or change "
	d := newDataDir(t)
	file := filepath.Join(t.TempDir(), "old-key.txt")
	if err := os.WriteFile(file, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		mode  os.FileMode
		warns bool
	}{
		{mode: 0o600},
		{mode: 0o711}, // others can only execute it
		{mode: 0o640, warns: true},
		{mode: 0o604, warns: true},
		{mode: 0o620, warns: true},
	} {
		if err := os.Chmod(file, test.mode); err != nil {
			t.Fatal(err)
		}
		got := d.run(2, "", "key add erp --role publisher --key-file "+quoted(file))
		if warns := strings.Contains(got.stderr, warning); warns != test.warns {
			t.Errorf("a file with the mode %o: got %q; with the warning: %t, want %t",
				test.mode, got.stderr, warns, test.warns)
		}
	}
}

// TestUnprintedSecrets checks that commands fail if the only copy of a secret cannot be printed. A
// key is deleted again; a user remains, since its password can be changed.
func TestUnprintedSecrets(t *testing.T) {
	d := newDataDir(t)
	d.run(0, withPassword, "user create erin --role admin --password-stdin")
	for _, test := range []struct{ args, want string }{
		{
			args: "key create reports --role reader",
			want: "the key could not be printed and was deleted again",
		},
		{
			args: "user create sam --role reader --generate",
			want: "the user sam has a password that could not be printed; " +
				"set another one with whd user update sam --generate",
		},
		{
			args: "user update erin --generate",
			want: "the user erin has a password that could not be printed",
		},
	} {
		var stderr bytes.Buffer
		status := Main(Process{
			Args:   append(splitLine(test.args), "--data-dir", d.dir),
			Stdin:  strings.NewReader(""),
			Stdout: noOutput{},
			Stderr: &stderr,
		})
		if status != 1 || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("whd %s: got exit code %d and %q, want 1 and %q",
				test.args, status, &stderr, test.want)
		}
		if strings.Contains(stderr.String(), "not shown again") {
			t.Errorf("whd %s: got %q, want no notice about a secret above", test.args, &stderr)
		}
	}
	if list := d.run(0, "", "key list").stdout; strings.Contains(list, "reports") {
		t.Errorf("key list printed\n%s\nwant no key that was not printed", list)
	}
}

func TestExpiry(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	got, err := expiry("90d", now)
	if want := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC); err != nil || !got.Equal(want) {
		t.Errorf("90d after %v is %v (%v), want %v", now, got, err, want)
	}
}

func TestUnavailableStoreExitsWith3(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"user list", "key list", "migrate", "serve --listen 127.0.0.1:0"} {
		got := whd("", args+" --data-dir "+quoted(file))
		if got.status != 3 || got.stdout != "" || got.stderr == "" {
			t.Errorf("whd %s: got %+v, want exit code 3 with an error", args, got)
		}
	}
}

func TestMigratePrintsVersions(t *testing.T) {
	d := newDataDir(t)
	for _, want := range []string{
		`^whd\.db: version 0 -> [1-9]\d*\n$`,
		`^whd\.db: version [1-9]\d*, up to date\n$`,
	} {
		got := d.run(0, "", "migrate").stdout
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("migrate printed %q, want %s", got, want)
		}
	}
}

func TestServeStopsOnSignal(t *testing.T) {
	const password = "admin-test-password"
	signals := make(chan os.Signal, 1)
	var stdout, stderr bytes.Buffer
	banner := make(chan struct{})
	done := make(chan int)
	go func() {
		done <- Main(Process{
			Args:    []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir()},
			Env:     []string{"WHD_ADMIN_PASSWORD=" + password},
			Stdin:   strings.NewReader(""),
			Stdout:  &onWrite{w: &stdout, written: banner},
			Stderr:  &stderr,
			Signals: signals,
		})
	}()
	select {
	case <-banner:
		signals <- os.Interrupt
		if status := <-done; status != 0 {
			t.Errorf("serve ended with exit code %d after a signal, want 0; standard error:\n%s", status, &stderr)
		}
	case status := <-done:
		t.Fatalf("serve ended with exit code %d before the banner; standard error:\n%s", status, &stderr)
	}
	if strings.Contains(stdout.String()+stderr.String(), password) {
		t.Error("the output contains the password")
	}
}

// onWrite closes written at the first write.
type onWrite struct {
	w       io.Writer
	written chan struct{}
	once    sync.Once
}

func (o *onWrite) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	o.once.Do(func() { close(o.written) })
	return n, err
}
