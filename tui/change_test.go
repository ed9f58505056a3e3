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
	"APIKeys",
	"AllMessages",
	"AllSubscriptions",
	"Attempts",
	"BillValue",
	"BillValues",
	"Captures",
	"Changes",
	"Close",
	"Copy",
	"Count",
	"CurrentSession",
	"Download",
	"Events",
	"FollowChanges",
	"Info",
	"KeepAlive",
	"KindList",
	"Kinds",
	"Login",
	"Logout",
	"MessageResponses",
	"Messages",
	"Page",
	"Rows",
	"SentRequests",
	"Settings",
	"SignIn",
	"Stats",
	"Stream",
	"Subscriber",
	"Subscriptions",
	"URL",
	"User",
	"Users",
	"Why",
	"WhyOf",
	"WithSessionOf",
}

// changeWrappers are the functions that wrap their last argument in a Change.
var changeWrappers = []string{"save"}

// Every change of data is made by Do of a ui.Change, which Host.Change rejects in a
// read-only session and repeats after a sign-in.
func TestChangesGoThroughHost(t *testing.T) {
	changing := make(map[string]bool)
	for _, d := range declarations(t, "../client") {
		isMethod := d.receiver == "Client" && ast.IsExported(d.name)
		if isMethod && !slices.Contains(readMethods, d.name) {
			changing[d.name] = true
		}
	}
	if len(changing) < 15 {
		t.Fatalf("only %d methods of the client are changes, want at least 15", len(changing))
	}
	for _, dir := range packageDirs(t) {
		functions := declarations(t, dir)
		unguarded := unguardedFunctions(functions, changing)
		reached := reachedFunctions(functions, unguarded)
		for name, callee := range unguarded {
			if !reached[name] {
				t.Errorf("%s in %s calls %s outside of the function of a ui.Change", name, dir, callee)
			}
		}
	}
}

// unguardedFunctions returns the functions of a package that change data outside of the function
// of a Change, and their callees: a method of the client, or another unguarded function. Callers
// of unguarded functions are unguarded too, so the search is repeated until it adds none.
// Functions are identified by name, so functions that change data need unique names.
func unguardedFunctions(functions []declaration, changing map[string]bool) map[string]string {
	unguarded := make(map[string]string)
	for {
		before := len(unguarded)
		for _, d := range functions {
			for _, r := range d.outside {
				callsClient := r.selected && changing[r.name]
				if callsClient || unguarded[r.name] != "" {
					unguarded[d.name] = r.name
				}
			}
		}
		if len(unguarded) == before {
			return unguarded
		}
	}
}

// reachedFunctions returns the functions that the functions of Changes call, directly or through
// unguarded functions. An unguarded function among them makes its change within a Change.
func reachedFunctions(functions []declaration, unguarded map[string]string) map[string]bool {
	reached := make(map[string]bool)
	for _, d := range functions {
		for _, r := range d.inside {
			reached[r.name] = true
		}
	}
	for {
		before := len(reached)
		for _, d := range functions {
			if !reached[d.name] || unguarded[d.name] == "" {
				continue
			}
			for _, r := range d.outside {
				reached[r.name] = true
			}
		}
		if len(reached) == before {
			return reached
		}
	}
}

// declaration is a function or a method, with the names in its body other than its own.
type declaration struct {
	name     string
	receiver string      // the name of its type, "" for none
	inside   []reference // in the functions of Changes
	outside  []reference // in the rest of the body
}

// reference is a name in the body of a function.
type reference struct {
	name     string
	selected bool // from a value or a package
}

// newDeclaration returns a declared function, which has a body.
func newDeclaration(f *ast.FuncDecl) declaration {
	d := declaration{name: f.Name.Name, receiver: receiverOf(f)}
	guarded := changeFunctions(f.Body)
	d.outside = d.references(f.Body, guarded)
	for _, function := range guarded {
		d.inside = append(d.inside, d.references(function, nil)...)
	}
	return d
}

// references returns the names in a node, except in the nodes that are skipped, and except the
// names of fields in literals.
func (d declaration) references(in ast.Node, skipped []ast.Node) (list []reference) {
	ast.Inspect(in, func(n ast.Node) bool {
		if slices.Contains(skipped, n) {
			return false
		}
		if field, ok := n.(*ast.KeyValueExpr); ok {
			list = append(list, d.references(field.Value, skipped)...)
			return false
		}
		r := referenceOf(n)
		if r.name != "" && r.name != d.name {
			list = append(list, r)
		}
		return true
	})
	return list
}

// referenceOf returns a selector or an identifier, which has a name.
func referenceOf(n ast.Node) reference {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		return reference{name: n.Sel.Name, selected: true}
	case *ast.Ident:
		return reference{name: n.Name}
	}
	return reference{}
}

// changeFunctions returns the functions of Changes in a body: the field Do, or the last argument
// of changeWrappers.
func changeFunctions(body ast.Node) (functions []ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if do := doOfChange(n); do != nil {
				functions = append(functions, do)
			}
		case *ast.CallExpr:
			isWrapper := slices.Contains(changeWrappers, referenceOf(n.Fun).name)
			if isWrapper && len(n.Args) > 0 {
				functions = append(functions, n.Args[len(n.Args)-1])
			}
		}
		return true
	})
	return functions
}

// doOfChange returns the field Do of a literal of ui.Change, nil for other literals.
func doOfChange(literal *ast.CompositeLit) ast.Node {
	if !isChange(literal.Type) {
		return nil
	}
	for _, element := range literal.Elts {
		field, ok := element.(*ast.KeyValueExpr)
		if ok && referenceOf(field.Key).name == "Do" {
			return field.Value
		}
	}
	return nil
}

// isChange reports whether a type is ui.Change, or Change within the package ui.
func isChange(expression ast.Expr) bool {
	switch e := expression.(type) {
	case *ast.SelectorExpr:
		return referenceOf(e.X).name == "ui" && e.Sel.Name == "Change"
	case *ast.Ident:
		return e.Name == "Change"
	}
	return false
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
func declarations(t *testing.T, dir string) (functions []declaration) {
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
			if ok && f.Body != nil {
				functions = append(functions, newDeclaration(f))
			}
		}
	}
	return functions
}

// receiverOf returns the name of the type of a method, "" for a function.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	return referenceOf(receiver).name
}
