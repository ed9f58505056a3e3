package whd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// newBackup returns the data directory of a store with the user ann, and a backup of it.
func newBackup(t *testing.T) (d dataDir, file string) {
	t.Helper()
	d = newDataDir(t)
	d.run(0, "", "migrate")
	d.run(0, "a password of ann\n", "user create ann --role reader --password-stdin")
	file = filepath.Join(t.TempDir(), "store.backup")
	got := d.run(0, "", "backup "+quoted(file)).stdout
	if want := file + " contains records.db, whd.db (version "; !strings.HasPrefix(got, want) {
		t.Errorf("backup printed %q, want %q", got, want)
	}
	return d, file
}

func TestBackupCommands(t *testing.T) {
	d, file := newBackup(t)
	d.run(0, "", "user remove ann") // after the backup
	shadow := filepath.Join(d.dir, "shadow.db")
	if err := os.WriteFile(shadow, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.runSteps([]step{
		{
			args:   "restore " + quoted(file),
			status: 1,
			stderr: d.dir + " already contains a store: records.db, whd.db, shadow.db; --force moves it to a subdirectory",
		},
		{
			args:   "restore " + quoted(file+".gone"),
			status: 1,
			stderr: "no such file",
		},
		{
			args:   "restore " + quoted(filepath.Join(d.dir, "whd.db")),
			status: 1,
			stderr: "not a backup made by whd",
		},
	})

	got := d.run(0, "", "restore --force "+quoted(file)).stdout
	for _, want := range []string{
		d.dir + " contains records.db, whd.db (version ",
		"the previous files are in " + d.dir,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("restore --force printed %q, want %q", got, want)
		}
	}
	if _, err := os.Stat(shadow); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the shadow of the replaced store still exists (%v)", err)
	}
	if got := d.run(0, "", "user list").stdout; !strings.Contains(got, "ann") {
		t.Errorf("user list printed %q after the restore, want ann", got)
	}
}

// A store on a server is backed up by the tools of the server.
func TestBackupOfStoreOnServer(t *testing.T) {
	d, file := newBackup(t)
	dsn := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(dsn, []byte("sqlserver://sa:canary@127.0.0.1:1?database=erp"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"backup", "restore"} {
		got := d.run(2, "", command+" "+quoted(file)+" --store-file "+quoted(dsn))
		if want := "whd " + command + " is for the embedded store"; !strings.Contains(got.stderr, want) {
			t.Errorf("%s of a store on a server: got %q, want %q", command, got.stderr, want)
		}
		if strings.Contains(got.stderr, "canary") {
			t.Errorf("%s of a store on a server: got %q, want it without the password", command, got.stderr)
		}
	}
}

// noOutput is an output that cannot be written to.
type noOutput struct{}

func (noOutput) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestBackupCommandsReportOutputErrors checks that the commands fail if their result cannot be
// printed.
func TestBackupCommandsReportOutputErrors(t *testing.T) {
	d := newDataDir(t)
	file := filepath.Join(t.TempDir(), "store.backup")
	d.run(0, "", "migrate")
	for _, command := range [][]string{
		{"backup", file},
		{"restore", "--force", file},
		{"compact"},
	} {
		var stderr bytes.Buffer
		args := append([]string{"--data-dir", d.dir}, command...)
		status := Main(Process{Args: args, Stdout: noOutput{}, Stderr: &stderr})
		if status != 1 || !strings.Contains(stderr.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%s: status %d, %q, want 1, no space left on device", command[0], status, &stderr)
		}
	}
}
