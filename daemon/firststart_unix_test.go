//go:build unix

package daemon

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/bizhook/whd/daemon/config"
)

// startedOnTerminal returns a daemon after New with its output on a terminal, and that
// output.
func startedOnTerminal(t *testing.T, dir string, settings ...string) (*Daemon, string) {
	t.Helper()
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	c, err := config.Read(nil, append(settings, "WHD_DATA_DIR="+dir, "WHD_LISTEN=127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}

	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // ends with an error on Linux when the terminal is closed
		shown <- string(text)
	}()
	var log bytes.Buffer
	d, err := New(t.Context(), c, terminal, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	d.first.banner("http://127.0.0.1:5050")
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "password") {
		t.Errorf("the log contains %s", &log)
	}

	return d, <-shown
}

// TestBannerOfDemoActivity checks that the banner of a demo that changes records suggests to follow
// stock takes only if a kind publishes their changes.
func TestBannerOfDemoActivity(t *testing.T) {
	const command = `bin/whctl listen --event "stocktake.*"`
	activity := []string{"WHD_DEMO=true", "WHD_DEMO_ACTIVITY=true"}
	_, shown := startedOnTerminal(t, t.TempDir(), activity...)
	if strings.Contains(shown, command) {
		t.Errorf("banner without a file of kinds: got %s, want no %s", shown, command)
	}
	_, shown = startedOnTerminal(t, t.TempDir(), append(activity, "WHD_ERP_KINDS=demo/kinds.toml")...)
	if !strings.Contains(shown, command) {
		t.Errorf("banner with the kinds of the demo: got %s, want %s", shown, command)
	}
}

// A demo on a terminal prints the first password and writes it to a file, which the
// commands of the manual read.
func TestFirstPasswordOfDemoOnTerminal(t *testing.T) {
	dir := t.TempDir()
	d, shown := startedOnTerminal(t, dir, "WHD_DEMO=true")
	file := filepath.Join(dir, adminPasswordFile)
	if files := passwordFiles(t, dir); len(files) != 1 || files[0] != file {
		t.Fatalf("files are %q", files)
	}
	expectAdmin(t, d, file)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("mode is %v", info.Mode())
	}
	password, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "password " + strings.TrimSpace(string(password)) + " (shown this once, and written to " + file + ")"
	if strings.Count(shown, want) != 1 || strings.Count(shown, "password") != 2 {
		t.Errorf("printed %q, want once %q", shown, want)
	}
}

// Without a demo the password is printed on the terminal only.
func TestFirstPasswordOnTerminal(t *testing.T) {
	dir := t.TempDir()
	_, shown := startedOnTerminal(t, dir)
	if files := passwordFiles(t, dir); len(files) != 0 {
		t.Errorf("files are %q", files)
	}
	if strings.Count(shown, "user admin, password ") != 1 || !strings.Contains(shown, " (shown this once)") {
		t.Errorf("printed %q", shown)
	}
}
