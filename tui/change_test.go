package tui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// reading are the methods of the client that change nothing at the service but
// the session. All others are changes.
var reading = []string{
	"APIKeys", "AllMessages", "AllSubscriptions", "Attempts", "BillValue", "BillValues", "Close", "Count", "CurrentSession", "Download", "Events", "Info", "KeepAlive",
	"Login", "Logout", "MessageResponses", "Messages", "Page", "Rows", "Settings", "Stats", "Stream", "Subscriber", "Subscriptions", "URL", "User", "Users",
}

// intoChange are the functions that put a function of theirs into a Change.
var intoChange = []string{"changeMany", "save"}

// Everything that changes something at the service is the function Do of a
// ui.Change, which Host.Change refuses in a read-only session and repeats after a
// sign-in.
func TestChangesGoThroughHost(t *testing.T) {
	changing := make(map[string]bool)
	for _, d := range declarations(t, "../client") {
		if len(d.recv) > 0 && d.recv[0] == "Client" && ast.IsExported(d.name) && !slices.Contains(reading, d.name) {
			changing[d.name] = true
		}
	}
	if len(changing) < 15 {
		t.Fatalf("only %d methods of the client change something", len(changing))
	}
	for _, dir := range packageDirs(t) {
		checkChanges(t, declarations(t, dir), changing)
	}
}

// checkChanges checks the functions of a package. They are known by their names
// alone, which are another for those that change something.
func checkChanges(t *testing.T, all []declaration, changing map[string]bool) {
	t.Helper()
	inside := make(map[string]string) // functions that change something outside of a Change, and what
	for found := true; found; {
		found = false
		for _, d := range all {
			if inside[d.name] != "" {
				continue
			}
			if what := d.changes(func(name string, selected bool) bool { return selected && changing[name] || inside[name] != "" }); what != "" {
				inside[d.name], found = what, true
			}
		}
	}
	called := make(map[string]bool) // what the functions of Changes call, directly or not
	note := func(body ast.Node) {
		ast.Inspect(body, func(n ast.Node) bool {
			if name, _ := nameOf(n); name != "" {
				called[name] = true
			}
			return true
		})
	}
	for _, d := range all {
		ast.Inspect(d.body, func(n ast.Node) bool {
			if lit := changeLiteral(n); lit != nil {
				note(lit)
			}
			return true
		})
	}
	for _, d := range all {
		if called[d.name] && inside[d.name] != "" {
			note(d.body)
		}
	}
	for name, what := range inside {
		if !called[name] {
			t.Errorf("%s calls %s outside of the function of a ui.Change", name, what)
		}
	}
}

type declaration struct {
	name string
	recv []string
	body ast.Node
}

// changes is what a function refers to that changes something, outside of a
// Change; empty for nothing.
func (d declaration) changes(is func(name string, selected bool) bool) (what string) {
	ast.Inspect(d.body, func(n ast.Node) bool {
		if changeLiteral(n) != nil {
			return false
		}
		if name, selected := nameOf(n); name != "" && name != d.name && is(name, selected) {
			what = name
		}
		return true
	})
	return what
}

// changeLiteral is the function of a Change: the member Do, or what is given to one
// of intoChange.
func changeLiteral(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Do" {
			return n.Value
		}
	case *ast.CallExpr:
		if name, _ := nameOf(n.Fun); slices.Contains(intoChange, name) && len(n.Args) > 0 {
			return n.Args[len(n.Args)-1]
		}
	}
	return nil
}

// nameOf is what a selector or an identifier names.
func nameOf(n ast.Node) (name string, selected bool) {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		return n.Sel.Name, true
	case *ast.Ident:
		return n.Name, false
	}
	return "", false
}

// packageDirs are those of the screens and of what they are made of, without the
// driver of their tests.
func packageDirs(t *testing.T) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() != "testdata" && d.Name() != "tuitest" {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// declarations are the functions of a package, tests aside.
func declarations(t *testing.T, dir string) (all []declaration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			one := declaration{name: f.Name.Name, body: f.Body}
			if f.Recv != nil {
				ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						one.recv = append(one.recv, id.Name)
					}
					return true
				})
			}
			all = append(all, one)
		}
	}
	return all
}
