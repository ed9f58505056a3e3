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

func (d dataDir) runSteps(steps []step) {
	d.t.Helper()
	for _, s := range steps {
		if got := d.run(s.status, s.stdin, s.args); !strings.Contains(got.stderr, s.stderr) {
			d.t.Errorf("whd %s: standard error is %q, want it to contain %q", s.args, got.stderr, s.stderr)
		}
	}
}

func TestUserCommands(t *testing.T) {
	d := newDataDir(t)
	d.runSteps([]step{
		{"erin-test-password\n", "user create erin --role reader --password-stdin", 0, "no user is an admin"},
		{"", "user create adam --role admin --generate", 0, "not shown again"},
		{"erin-test-password\n", "user create ERIN --role reader --password-stdin", 1, "already exists"},
		{"short\n", "user create sam --role reader --password-stdin", 2, "Password: must have at least"},
		{"\n", "user create sam --role reader --password-stdin", 2, "the password is empty"},
		{"", "user create sam --role reader --password-stdin", 2, "the password is empty"},
		{"", "user create sam --role reader", 2, "use --password-stdin or --generate"},
		{"", "user create sam --role reader --generate --password-stdin", 2, "cannot be combined"},
		{"", "user create sam --generate", 2, "needs --role reader|publisher|writer|admin"},
		{"", "user create sam --role boss --generate", 2, `the role must be one of reader, publisher, writer, admin, not "boss"`},
		{"", "user role erin writer", 0, ""},
		{"", "user role ghost writer", 1, "no user"},
		{"", "user role adam reader", 1, "last admin"},
		{"", "user password erin --generate", 0, "not shown again"},
		{"", "user update erin --generate", 0, "not shown again"},
		{"", "user update erin --role writer", 0, ""},
		{"", "user update adam --role reader --generate", 1, "last admin"},
		{"erin-test-password\n", "user update erin --role boss --password-stdin", 2, "must be one of"},
		{"", "user update ghost --role writer", 1, "no user"},
		{"", "user change erin --role writer", 0, ""},
		{"", "users add sam --role reader --generate", 0, "not shown again"},
		{"", "user remove sam", 0, ""},
		{"", "user delete adam", 1, "last admin"},
	})
	list := d.run(0, "", "user list").stdout
	if want := regexp.MustCompile(`(?s)^NAME +ROLE +ADDED\nadam +admin +20.*\nerin +writer +20.*Z\n$`); !want.MatchString(list) {
		t.Errorf("list:\n%s", list)
	}
	d.runSteps([]step{{"", "user delete erin", 0, ""}, {"", "user delete erin", 1, "no user"}})
}

func TestStdoutIsOnlyTheGeneratedPassword(t *testing.T) {
	got := newDataDir(t).run(0, "", "user create adam --role admin --generate")
	if !regexp.MustCompile(`^[A-Z2-7]{26}\n$`).MatchString(got.stdout) {
		t.Errorf("standard output: %q", got.stdout)
	}
}

func TestKeyCommands(t *testing.T) {
	d := newDataDir(t)
	created := d.run(0, "", "key create reports --role reader --expires never")
	if !regexp.MustCompile(`^whd_\S+\n$`).MatchString(created.stdout) || !strings.Contains(created.stderr, "expires: never") {
		t.Errorf("%+v", created)
	}
	d.runSteps([]step{
		{"", "key create sales --role publisher", 0, "expires: 20"},
		{"", "key create reports --role reader", 1, ""},
		{"", "key create other --role reader --expires soon", 2, `--expires: "soon" is not a duration such as 30s, 8h or 14d; use never for a key that does not expire`},
		{"", "key create other", 2, "needs --role"},
		{"", "key delete sales", 0, ""},
		{"", "keys add sales --role reader", 0, "expires: 20"},
		{"", "key remove sales", 0, ""},
		{"", "key delete sales", 1, "no API key"},
	})
	const old = "kQ3-2_yZ9aBcDeFgHiJkLmNoPqRsTuVw"
	file := filepath.Join(t.TempDir(), "old-key.txt")
	for _, content := range []struct {
		text   string
		status int
	}{{old + "\r\n", 0}, {"", 2}, {"   \n", 2}, {"short\n", 2}} {
		if err := os.WriteFile(file, []byte(content.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := d.run(content.status, "", "key add erp --role publisher --key-file "+quoted(file)); got.stdout != "" || strings.Contains(got.stderr, old) || strings.Contains(got.stderr, "other users") {
			t.Errorf("%q: %+v", content.text, got)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := d.run(2, "", "key add erp2 --role publisher --key-file "+quoted(file)); runtime.GOOS != "windows" && !strings.Contains(got.stderr, "other users can read") {
		t.Errorf("%+v", got)
	}
	d.runSteps([]step{{"", "key delete erp", 0, ""}, {"", "key add erp --role reader --key-file " + quoted(file+".missing"), 1, "no such file"}})
	list := d.run(0, "", "key list").stdout
	if want := regexp.MustCompile(`^ID +NAME +ROLE +ADDED +EXPIRES +LAST USED\n\S+ +reports +reader +20.*Z +never +never\n$`); !want.MatchString(list) {
		t.Errorf("list:\n%s", list)
	}
	if strings.Contains(list, strings.TrimSpace(created.stdout)) {
		t.Error("the list contains the secret of a key")
	}
}

func TestExpiry(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	got, err := expiry("90d", now)
	if want := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC); err != nil || !got.Equal(want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestUnavailableStoreExitsWith3(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"user list", "key list", "migrate", "serve --listen 127.0.0.1:0"} {
		if got := whd("", args+" --data-dir "+quoted(file)); got.status != 3 || got.stdout != "" || got.stderr == "" {
			t.Errorf("whd %s: %+v", args, got)
		}
	}
}

func TestMigratePrintsVersions(t *testing.T) {
	d := newDataDir(t)
	for _, want := range []string{`^whd\.db: version 0 -> [1-9]\d*\n$`, `^whd\.db: version [1-9]\d*, up to date\n$`} {
		if got := d.run(0, "", "migrate"); !regexp.MustCompile(want).MatchString(got.stdout) {
			t.Errorf("got %q, want %s", got.stdout, want)
		}
	}
}

func TestServeStopsOnSignal(t *testing.T) {
	signals := make(chan os.Signal, 1)
	var stdout, stderr bytes.Buffer
	banner := make(chan struct{})
	done := make(chan int)
	go func() {
		done <- Main(Process{
			Args: []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir()}, Env: []string{"WHD_ADMIN_PASSWORD=admin-test-password"},
			Stdin: strings.NewReader(""), Stdout: &onWrite{w: &stdout, written: banner}, Stderr: &stderr, Signals: signals,
		})
	}()
	select {
	case <-banner:
		signals <- os.Interrupt
		if status := <-done; status != 0 {
			t.Errorf("status %d, standard error:\n%s", status, &stderr)
		}
	case status := <-done:
		t.Fatalf("ended with status %d before the banner, standard error:\n%s", status, &stderr)
	}
	if strings.Contains(stdout.String()+stderr.String(), "admin-test-password") {
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
