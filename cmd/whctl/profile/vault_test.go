package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoginsOfEditors reads stored logins that an editor of Windows has saved.
func TestLoginsOfEditors(t *testing.T) {
	const text = "[prod]\nurl = 'http://127.0.0.1:1'\nuser = 'ann'\nstore = 'file'\nsession = 's1'\n"
	for _, test := range []struct{ name, content, wantErr string }{
		{"plain", text, ""},
		{"with a byte order mark", "\ufeff" + text, ""},
		{"only a byte order mark", "\ufeff", ""},
		{"UTF-16", "\xff\xfe[\x00p\x00", "logins.toml is in UTF-16; save it in UTF-8"},
		{"no TOML", "\ufeff[", "logins.toml is corrupt"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "logins.toml"), []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		v := Vault{Env: func(name string) string {
			if name == EnvConfig {
				return filepath.Join(dir, "config.toml")
			}
			return ""
		}}
		logins, err := v.ReadLogins()
		if test.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("%s: got the error %v, want %s", test.name, err, test.wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		login := logins.All["prod"]
		if strings.Contains(test.content, "prod") && (login == nil || login.Session != "s1") {
			t.Errorf("%s: got the login %+v, want the session s1", test.name, login)
		}
	}
}
