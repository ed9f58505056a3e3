package arch

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// limits bound what `go -C .ci/tools run ./size` measures.
var limits = map[string]int{
	"code lines":        4000, // of a package
	"files":             30,   // of a package
	"methods elsewhere": 14,   // of a package: in another file than their type
	"knot":              10,   // of a package: files that all depend on each other
	"file lines":        500,
	"function lines":    100,
	"methods":           40, // of a type, with the functions that take it first
	"files of":          3,  // of a type: those with its methods
	"fields":            20, // of a type
}

// exceptions are the packages, types and functions that may exceed a bound. At most ten.
var exceptions = map[string]string{
	"client":              "the methods of Client are in files by noun, as the service's routes are",
	"client.Client":       "one method for each operation of the service: users look for it there",
	"client/record.Kinds": "a table",
	"client/wire.Queue":   "a shape of the service's replies",
	"daemon/demo.row":     "what a column of a demo row holds is a function of the row, in files by business area",
}

// violation is something that does not keep to the tables, and by how much.
type violation struct {
	what  string
	value int
}

func (v violation) String() string { return v.what + ": " + strconv.Itoa(v.value) }

const remaining = "testdata/remaining.txt"

// TestViolations compares the violations with the list of those that remain,
// which may only shrink: an entry may go, and its value fall. -update writes the
// list, -v prints it.
func TestViolations(t *testing.T) {
	found := append(importViolations(t), sizeViolations(t)...)
	slices.SortFunc(found, func(a, b violation) int { return strings.Compare(a.what, b.what) })
	var lines strings.Builder
	for _, v := range found {
		fmt.Fprintln(&lines, v)
	}
	t.Logf("%d violations\n%s", len(found), &lines)
	if *update {
		if err := os.WriteFile(remaining, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(remaining)
	if err != nil {
		t.Fatal(err)
	}
	bound := make(map[string]int)
	for line := range strings.Lines(string(text)) {
		i := strings.LastIndex(line, ": ")
		if bound[line[:i]], err = strconv.Atoi(strings.TrimSpace(line[i+2:])); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range found {
		if v.value > bound[v.what] {
			t.Errorf("%v, where %s has %d", v, remaining, bound[v.what])
		}
	}
}

func sizeViolations(t *testing.T) (all []violation) {
	cmd := exec.Command("go", "-C", root+"/.ci/tools", "run", "./size", "-json", "../..")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var measured []struct {
		What, Of string
		Value    int
	}
	if err := json.Unmarshal(out, &measured); err != nil {
		t.Fatal(err)
	}
	for _, m := range measured {
		what := m.What + " " + m.Of
		if limit, known := limits[m.What]; !known {
			t.Errorf("%s have no limit", m.What)
		} else if m.Value > limit && exceptions[m.Of] == "" {
			all = append(all, violation{what, m.Value})
		}
	}
	return all
}

func TestFewExceptions(t *testing.T) {
	if len(exceptions) > 10 {
		t.Errorf("%d exceptions are more than ten", len(exceptions))
	}
}
