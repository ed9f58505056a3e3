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

// readMethods are the methods of the client that change no data, except the session. All
// other methods are changes.
var readMethods = []string{
	"APIKeys", "AllMessages", "AllSubscriptions", "Attempts", "BillValue", "BillValues", "Captures", "Changes", "Close", "Copy", "Count", "CurrentSession", "Download", "Events", "FollowChanges", "Info", "KeepAlive", "KindList", "Kinds",
	"Login", "Logout", "MessageResponses", "Messages", "Page", "Rows", "Settings", "SignIn", "Stats", "Stream", "Subscriber", "Subscriptions", "URL", "User", "Users", "Why", "WhyOf", "WithSessionOf",
}

// changeWrappers are the functions that wrap a function in a Change.
var changeWrappers = []string{"changeMany", "save"}

// Every change of data is made by Do of a ui.Change, which Host.Change rejects in a
// read-only session and repeats after a sign-in.
func TestChangesGoThroughHost(t *testing.T) {
	changing := make(map[string]bool)
	for _, d := range declarations(t, "../client") {
		if len(d.recv) > 0 && d.recv[0] == "Client" && ast.IsExported(d.name) && !slices.Contains(readMethods, d.name) {
			changing[d.name] = true
		}
	}
	if len(changing) < 15 {
		t.Fatalf("only %d methods of the client are changes", len(changing))
	}
	for _, dir := range packageDirs(t) {
		checkChanges(t, declarations(t, dir), changing)
	}
}

// checkChanges checks the functions of a package. Functions are identified by name, so
// functions that change data need unique names.
func checkChanges(t *testing.T, all []declaration, changing map[string]bool) {
	t.Helper()
	inside := make(map[string]string) // functions that change data outside of a Change, and the method they call
	for found := true; found; {
		found = false
		for _, d := range all {
			if inside[d.name] != "" {
				continue
			}
			if method := d.changes(func(name string, selected bool) bool { return selected && changing[name] || inside[name] != "" }); method != "" {
				inside[d.name], found = method, true
			}
		}
	}
	called := make(map[string]bool) // functions called from Changes, directly or indirectly
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
			if literal := changeLiteral(n); literal != nil {
				note(literal)
			}
			return true
		})
	}
	for _, d := range all {
		if called[d.name] && inside[d.name] != "" {
			note(d.body)
		}
	}
	for name, method := range inside {
		if !called[name] {
			t.Errorf("%s calls %s outside of the function of a ui.Change", name, method)
		}
	}
}

type declaration struct {
	name string
	recv []string
	body ast.Node
}

// changes returns the change that a function makes outside of a Change, "" for none.
func (d declaration) changes(isChange func(name string, selected bool) bool) (method string) {
	ast.Inspect(d.body, func(n ast.Node) bool {
		if changeLiteral(n) != nil {
			return false
		}
		if name, selected := nameOf(n); name != "" && name != d.name && isChange(name, selected) {
			method = name
		}
		return true
	})
	return method
}

// changeLiteral returns the function of a Change: the field Do, or an argument of
// changeWrappers.
func changeLiteral(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Do" {
			return n.Value
		}
	case *ast.CallExpr:
		if name, _ := nameOf(n.Fun); slices.Contains(changeWrappers, name) && len(n.Args) > 0 {
			return n.Args[len(n.Args)-1]
		}
	}
	return nil
}

// nameOf returns the name of a selector or an identifier.
func nameOf(n ast.Node) (name string, selected bool) {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		return n.Sel.Name, true
	case *ast.Ident:
		return n.Name, false
	}
	return "", false
}

// packageDirs returns the packages of the screens and their building blocks, without
// tuitest.
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

// declarations returns the functions of a package, without tests.
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
			function := declaration{name: f.Name.Name, body: f.Body}
			if f.Recv != nil {
				ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						function.recv = append(function.recv, id.Name)
					}
					return true
				})
			}
			all = append(all, function)
		}
	}
	return all
}
