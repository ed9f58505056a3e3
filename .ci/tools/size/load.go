package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// pkg contains the measures of a package.
type pkg struct {
	name      string // path relative to the module
	module    string // path of the module
	product   size   // without tests
	tests     size
	files     map[string]int // lines of each file without tests, including comments
	functions []int          // lines of each function
	named     map[string]int // lines of each function, by name
	types     map[*types.TypeName]*typ
	cycle     int // files of the largest cycle
}

// size is an amount of code.
type size struct{ lines, statements int }

func (s *size) add(added size) {
	s.lines += added.lines
	s.statements += added.statements
}

// typ contains the measures of a named type.
type typ struct {
	name           string
	file           string
	methods        int               // declared on the type itself
	methodSet      int               // with those of embedded types, also through pointers
	firstParameter int               // functions with the type as their first parameter
	fields         int               // with those of embedded types, also through pointers
	parts          []*types.TypeName // types that the type holds and that hold it
	fileNames      map[string]bool   // files with its methods and functions
	elsewhere      int               // methods in another file than the type
}

// functions returns the number of methods that can be called on the type, and of functions
// that take it first.
func (t *typ) functions() int { return t.methodSet + t.firstParameter }

// files returns the number of files with methods. Variants of a file for different
// operating systems count as one.
func (t *typ) files() int {
	names := make(map[string]bool)
	for name := range t.fileNames {
		name = strings.TrimSuffix(name, ".go")
		for _, system := range []string{"_windows", "_unix", "_linux", "_other", "_darwin"} {
			name = strings.TrimSuffix(name, system)
		}
		names[name] = true
	}
	return len(names)
}

// support reports whether the package, by its name, exists for tests only.
func (p *pkg) support() bool {
	isBenchmark := strings.HasPrefix(p.name, "daemon/bench/")
	return strings.HasSuffix(p.name, "test") || isBenchmark || p.name == "daemon/arch"
}

// elsewhere returns the number of methods in another file than their type.
func (p *pkg) elsewhere() (n int) {
	for t := range maps.Values(p.types) {
		n += t.elsewhere
	}
	return n
}

// loadMode are the properties of packages that measure needs.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedModule | packages.NeedImports |
	packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedExportFile

// load measures the packages of the module in a directory.
func load(dir string) ([]*pkg, error) {
	config := &packages.Config{
		Dir:  dir,
		Env:  append(os.Environ(), "CGO_ENABLED=0"),
		Fset: token.NewFileSet(),
		Mode: loadMode,
	}
	parsed, err := packages.Load(config, "./...")
	if err != nil {
		return nil, err
	}
	var loaded []*pkg
	for _, p := range parsed {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		measured, err := measure(config.Fset, p)
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, measured)
	}
	return loaded, nil
}

func measure(files *token.FileSet, p *packages.Package) (*pkg, error) {
	m := &pkg{
		name:   strings.TrimPrefix(p.PkgPath, p.Module.Path+"/"),
		module: p.Module.Path,
		files:  make(map[string]int),
		named:  make(map[string]int),
		types:  make(map[*types.TypeName]*typ),
	}
	if err := m.countLines(p.Dir); err != nil {
		return nil, err
	}
	for id, object := range p.TypesInfo.Defs {
		name, ok := object.(*types.TypeName)
		if !ok || name.Parent() != p.Types.Scope() {
			continue
		}
		m.types[name] = &typ{
			name:      m.name + "." + id.Name,
			file:      files.Position(id.Pos()).Filename,
			fileNames: make(map[string]bool),
			methodSet: methodSet(name),
			fields:    m.fields(name.Type(), make(map[*types.TypeName]bool)),
			parts:     parts(name),
		}
	}
	for _, file := range p.Syntax {
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok {
				m.countFunction(files, p.TypesInfo, f)
			}
		}
	}
	m.cycle = largestCycle(dependencies(files, p))
	return m, nil
}

// countLines counts the lines and statements of all Go files in a directory, including
// those for other operating systems.
func (p *pkg) countLines(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		n, err := statements(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		counted := size{lines: codeLines(text), statements: n}
		if strings.HasSuffix(name, "_test.go") {
			p.tests.add(counted)
			continue
		}
		p.product.add(counted)
		p.files[name] = strings.Count(string(text), "\n")
	}
	return nil
}

// statements returns the number of statements in a file. A block, a label and a case are
// parts of statements. Unlike lines, it does not change when statements are packed.
func statements(text []byte) (n int, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.BlockStmt, *ast.LabeledStmt, *ast.CaseClause, *ast.CommClause, *ast.EmptyStmt:
		case ast.Stmt:
			n++
		}
		return true
	})
	return n, nil
}

// codeLines returns the number of lines that contain at least a part of a token.
func codeLines(text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	lines := make(map[int]bool)
	for {
		position, kind, literal := s.Scan()
		if kind == token.EOF {
			return len(lines)
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue // inserted at the end of a line
		}
		first := file.Line(position)
		for n := range strings.Count(literal, "\n") + 1 {
			lines[first+n] = true
		}
	}
}

// countFunction counts the lines of a function or method, and adds it to the type that it belongs
// to: that of its receiver, or else that of its first parameter.
func (p *pkg) countFunction(files *token.FileSet, info *types.Info, f *ast.FuncDecl) {
	start := files.Position(f.Pos())
	lines := files.Position(f.End()).Line - start.Line + 1
	p.functions = append(p.functions, lines)

	signature := info.Defs[f.Name].Type().(*types.Signature)
	receiver := signature.Recv()
	if receiver == nil {
		p.named[f.Name.Name] = lines
		p.countFirstParameter(signature.Params(), start.Filename)
		return
	}
	name := named(receiver.Type())
	if name != nil {
		p.named[name.Name()+"."+f.Name.Name] = lines
	}
	t := p.types[name]
	if t == nil {
		return
	}
	t.methods++
	t.fileNames[start.Filename] = true
	if start.Filename != t.file {
		t.elsewhere++
	}
}

// countFirstParameter counts a function in a file for the type of its first parameter.
func (p *pkg) countFirstParameter(parameters *types.Tuple, file string) {
	if parameters.Len() == 0 {
		return
	}
	if t := p.types[named(parameters.At(0).Type())]; t != nil {
		t.firstParameter++
		t.fileNames[file] = true
	}
}

// named returns the name of a type or of the type it points to, nil if it has none.
func named(t types.Type) *types.TypeName {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Origin().Obj()
	}
	return nil
}

// methodSet returns the number of methods that can be called on a variable of the type,
// including those of embedded types. A type that embeds a pointer to its owner has all
// methods of the owner.
func methodSet(name *types.TypeName) int {
	t := name.Type()
	if !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	return types.NewMethodSet(t).Len()
}

// fields returns the number of fields of a struct, including those of unnamed structs and
// of embedded types of the module, also through pointers. The fields of a type are counted
// once, so that a type and the parts that embed a pointer to it have the same number.
func (p *pkg) fields(t types.Type, seen map[*types.TypeName]bool) (n int) {
	if name := named(t); name != nil {
		if seen[name] {
			return 0
		}
		seen[name] = true
		t = name.Type()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return 0
	}
	for f := range s.Fields() {
		_, unnamed := f.Type().(*types.Struct)
		if unnamed || f.Embedded() && p.isStructOfModule(f.Type()) {
			n += p.fields(f.Type(), seen)
		} else {
			n++
		}
	}
	return n
}

// isStructOfModule reports whether a type, or the type it points to, is a struct of the
// module. The fields of a struct of a library cannot be reached.
func (p *pkg) isStructOfModule(t types.Type) bool {
	name := named(t)
	if name == nil || name.Pkg() == nil {
		return false
	}
	_, isStruct := name.Type().Underlying().(*types.Struct)
	path := name.Pkg().Path()
	return isStruct && (path == p.module || strings.HasPrefix(path, p.module+"/"))
}

// parts returns the other types of the package that a struct holds in fields and that hold
// the struct in theirs, also through further types. It cannot see owners that are held in
// closures or interfaces.
func parts(owner *types.TypeName) []*types.TypeName {
	reached := heldBy(owner)
	var mutual []*types.TypeName
	for part := range reached {
		if part != owner && heldBy(part)[owner] {
			mutual = append(mutual, part)
		}
	}
	return mutual
}

// heldBy returns the structs of the same package that a struct holds in fields, by value or
// by pointer, directly or through the fields of others.
func heldBy(owner *types.TypeName) map[*types.TypeName]bool {
	reached := make(map[*types.TypeName]bool)
	queue := []*types.TypeName{owner}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		s, ok := next.Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for f := range s.Fields() {
			held := named(f.Type())
			if held != nil && held.Pkg() == owner.Pkg() && !reached[held] {
				reached[held] = true
				queue = append(queue, held)
			}
		}
	}
	return reached
}

// dependencies returns, for each file, the files of the package with declarations that it
// uses.
func dependencies(files *token.FileSet, p *packages.Package) map[string]map[string]bool {
	uses := make(map[string]map[string]bool)
	for id, object := range p.TypesInfo.Uses {
		if object.Pkg() != p.Types || !object.Pos().IsValid() {
			continue
		}
		from := files.Position(id.Pos()).Filename
		to := files.Position(object.Pos()).Filename
		if from == to {
			continue
		}
		if uses[from] == nil {
			uses[from] = make(map[string]bool)
		}
		uses[from][to] = true
	}
	return uses
}

// largestCycle returns the size of the largest set of files in which each file depends on
// all others, directly or indirectly.
func largestCycle(uses map[string]map[string]bool) int {
	reached := make(map[string]map[string]bool) // the files that a file depends on
	for file := range uses {
		reached[file] = reachable(uses, file)
	}
	largest := 0
	for file, dependencies := range reached {
		size := 0
		for dependency := range dependencies {
			if reached[dependency][file] {
				size++
			}
		}
		largest = max(largest, size)
	}
	return largest
}

// reachable returns the files that a file depends on, directly or indirectly.
func reachable(uses map[string]map[string]bool, file string) map[string]bool {
	seen := make(map[string]bool)
	queue := slices.Collect(maps.Keys(uses[file]))
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		if !seen[next] {
			seen[next] = true
			queue = slices.AppendSeq(queue, maps.Keys(uses[next]))
		}
	}
	return seen
}
