package whd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackupCommands(t *testing.T) {
	o := newOffice(t)
	file := filepath.Join(t.TempDir(), "store.backup")
	o.do(0, "", "demo")
	o.do(0, "a password of ann\n", "user create ann --role reader --password-stdin")
	if got := o.do(0, "", "backup "+file).stdout; !strings.HasPrefix(got, file+" has records.db, whd.db (version ") {
		t.Errorf("got %s", got)
	}
	o.do(0, "", "user remove ann") // which the backup knows nothing of
	o.play([]step{
		{"", "restore " + file, 1, o.dir + " already contains a store: records.db, whd.db; --force moves it to a subdirectory"},
		{"", "restore " + file + ".gone", 1, "no such file"},
		{"", "restore " + filepath.Join(o.dir, "whd.db"), 1, "not a backup made by whd"},
	})
	if got := o.do(0, "", "restore --force "+file).stdout; !strings.Contains(got, o.dir+" has records.db, whd.db (version ") || !strings.Contains(got, "the previous files are in "+o.dir) {
		t.Errorf("got %s", got)
	}
	if got := o.do(0, "", "user list").stdout; !strings.Contains(got, "ann") {
		t.Errorf("got %s", got)
	}
	secret := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(secret, []byte("sqlserver://sa:canary@127.0.0.1:1?database=erp"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"backup", "restore"} {
		got := whd("", command+" "+file+" --data-dir "+o.dir+" --store-file "+secret)
		if got.status != 2 || !strings.Contains(got.stderr, "whd "+command+" is for the embedded store") || strings.Contains(got.stderr, "canary") {
			t.Errorf("%s of a server: %+v", command, got)
		}
	}
}
