package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/bizhook/whd"

// root is the directory of the module.
const root = "../.."

// listed is a package as reported by `go list`.
type listed struct {
	ImportPath   string
	Name         string // of the package
	Module       *struct{ Path, Dir string }
	Standard     bool
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

func (p listed) short() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// goList lists packages as they are built without cgo, like the released programs.
func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{
		"list",
		"-json=ImportPath,Name,Module,Standard,Imports,TestImports,XTestImports,Deps",
	}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var packages []listed
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
