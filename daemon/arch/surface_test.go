package arch

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
)

// public lists the packages of the public Go API.
var public = []string{
	"client", "client/filter", "client/record", "client/wire",
	"client/workbook", "client/xlsx",
}

const surface = "testdata/api.txt"

// Compares the exported declarations of the public packages with the list of the last
// release; make guards writes the list. Mention removed and changed lines in CHANGELOG.md.
// Routes, settings, metrics, flags and exit codes are listed in the README and in
// testdata/*.golden.
func TestPublicAPI(t *testing.T) {
	var found strings.Builder
	for _, name := range public {
		found.WriteString(strings.Join(exported(t, name), "\n") + "\n")
	}
	if goldentest.UpdatingGuards() {
		if err := os.WriteFile(surface, []byte(found.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(surface)
	if err != nil {
		t.Fatal(err)
	}
	now, before := strings.Split(found.String(), "\n"), strings.Split(string(text), "\n")
	for _, line := range before {
		if !slices.Contains(now, line) {
			t.Errorf("removed or changed: %s", line)
		}
	}
	for _, line := range now {
		if !slices.Contains(before, line) {
			t.Errorf("new: %s", line)
		}
	}
}

// exported returns the exported declarations of a package, one per line.
func exported(t *testing.T, name string) (all []string) {
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(root, name, "*.go"))
	if err != nil {
		t.Fatal(err)
	}

	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}

	p, err := doc.NewFromFiles(set, files, module+"/"+name)
	if err != nil {
		t.Fatal(err)
	}

	show := func(node any) {
		var text bytes.Buffer
		if err := printer.Fprint(&text, set, node); err != nil {
			t.Fatal(err)
		}
		all = append(all, name+": "+strings.Join(strings.Fields(text.String()), " "))
	}

	function := func(f *doc.Func) {
		f.Decl.Body = nil
		show(f.Decl)
	}
	names := func(values []*doc.Value) {
		for _, v := range values {
			all = append(all, name+": "+v.Decl.Tok.String()+" "+strings.Join(v.Names, " "))
		}
	}
	names(p.Consts)
	names(p.Vars)
	for _, f := range p.Funcs {
		function(f)
	}

	for _, typ := range p.Types {
		show(typ.Decl)
		names(typ.Consts)
		names(typ.Vars)
		for _, f := range slices.Concat(typ.Funcs, typ.Methods) {
			function(f)
		}
	}

	return all
}
