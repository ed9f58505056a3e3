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

func TestBackupCommands(t *testing.T) {
	d := newDataDir(t)
	file := filepath.Join(t.TempDir(), "store.backup")
	d.run(0, "", "migrate")
	d.run(0, "a password of ann\n", "user create ann --role reader --password-stdin")
	if got := d.run(0, "", "backup "+quoted(file)).stdout; !strings.HasPrefix(got, file+" contains records.db, whd.db (version ") {
		t.Errorf("got %s", got)
	}
	d.run(0, "", "user remove ann") // after the backup
	shadow := filepath.Join(d.dir, "shadow.db")
	if err := os.WriteFile(shadow, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.runSteps([]step{
		{"", "restore " + quoted(file), 1, d.dir + " already contains a store: records.db, whd.db, shadow.db; --force moves it to a subdirectory"},
		{"", "restore " + quoted(file+".gone"), 1, "no such file"},
		{"", "restore " + quoted(filepath.Join(d.dir, "whd.db")), 1, "not a backup made by whd"},
	})
	if got := d.run(0, "", "restore --force "+quoted(file)).stdout; !strings.Contains(got, d.dir+" contains records.db, whd.db (version ") || !strings.Contains(got, "the previous files are in "+d.dir) {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(shadow); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the shadow of the replaced store is left (%v)", err)
	}
	if got := d.run(0, "", "user list").stdout; !strings.Contains(got, "ann") {
		t.Errorf("got %s", got)
	}
	secret := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(secret, []byte("sqlserver://sa:canary@127.0.0.1:1?database=erp"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"backup", "restore"} {
		got := whd("", command+" "+quoted(file)+" --data-dir "+quoted(d.dir)+" --store-file "+quoted(secret))
		if got.status != 2 || !strings.Contains(got.stderr, "whd "+command+" is for the embedded store") || strings.Contains(got.stderr, "canary") {
			t.Errorf("%s of a store on a server: %+v", command, got)
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
