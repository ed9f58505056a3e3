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

	"github.com/bizhook/whd/client/goldentest"
)

// limits contains the maximum of each measure of `go -C .ci/tools run ./size`.
var limits = map[string]int{
	"code lines":        4000, // of a package
	"files":             30,   // of a package
	"methods elsewhere": 14,   // of a package: in another file than their type
	"file cycle":        10,   // of a package: files that all depend on each other
	"file lines":        500,
	"function lines":    100,
	"methods":           40, // of a type, with the functions that take it first
	"files of":          3,  // of a type: those with its methods
	"fields":            20, // of a type
}

// exceptions lists packages, types and functions that may exceed a limit, with the reason.
var exceptions = map[string]string{
	"client":                "the methods of Client are in one file per noun, like the service's routes",
	"client.Client":         "one method for each operation of the service",
	"client/record.Kinds":   "a table",
	"client/wire.Queue":     "a shape of the service's responses",
	"client/wire.Stats":     "a shape of the service's responses; three members are deprecated names",
	"daemon/kinds.Declared": "a record kind, embedded, with the lines and comments of its declaration",
	"daemon/demo.row":       "each column of a demo row is a function of the row, in one file per business area",
}

// violation is a violation of a table, with the measured value.
type violation struct {
	subject string
	value   int
}

func (v violation) String() string { return v.subject + ": " + strconv.Itoa(v.value) }

const remaining = "testdata/remaining.txt"

// Compares the violations with the list of the remaining ones, which may only shrink:
// entries may disappear and values decrease. make guards writes the list, -v prints it.
func TestViolations(t *testing.T) {
	found := append(importViolations(t), sizeViolations(t)...)
	slices.SortFunc(found, func(a, b violation) int { return strings.Compare(a.subject, b.subject) })
	var lines strings.Builder
	for _, v := range found {
		fmt.Fprintln(&lines, v)
	}
	t.Logf("%d violations\n%s", len(found), &lines)
	if goldentest.UpdatingGuards() {
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
		if v.value > bound[v.subject] {
			t.Errorf("%v; %s allows %d", v, remaining, bound[v.subject])
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
		Measure, Of string
		Value       int
	}
	if err := json.Unmarshal(out, &measured); err != nil {
		t.Fatal(err)
	}
	for _, m := range measured {
		if limit, known := limits[m.Measure]; !known {
			t.Errorf("the measure %q has no limit", m.Measure)
		} else if m.Value > limit && exceptions[m.Of] == "" {
			all = append(all, violation{m.Measure + " " + m.Of, m.Value})
		}
	}
	return all
}

func TestExceptionsAreTenOrFewer(t *testing.T) {
	if len(exceptions) > 10 {
		t.Errorf("%d exceptions, want at most 10", len(exceptions))
	}
}
