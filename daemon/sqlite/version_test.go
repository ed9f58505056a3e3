package sqlite_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestLibcVersion: the translated SQLite only works with exactly the version of its C
// library that it was built with, which the module graph does not enforce.
func TestLibcVersion(t *testing.T) {
	const library = "modernc.org/libc"
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command, which reports the versions, is not installed")
	}
	command := exec.Command(goCommand, "list", "-m", "-json", "modernc.org/sqlite", library)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &complaint)
	}
	var sqlite, libc struct{ Version, GoMod string }
	modules := json.NewDecoder(bytes.NewReader(out))
	for _, module := range []any{&sqlite, &libc} {
		if err := modules.Decode(module); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(sqlite.GoMod)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == library {
			if fields[1] != libc.Version {
				t.Errorf("sqlite %s requires libc %s, go.mod has %s", sqlite.Version, fields[1], libc.Version)
			}
			return
		}
	}
	t.Errorf("the go.mod of sqlite %s does not contain %s", sqlite.Version, library)
}
