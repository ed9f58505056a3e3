package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// source has a type with a part that embeds a pointer to it, so that both are one type,
// and a type that only embeds another.
const source = `package p

import "sync"

type App struct {
	*tabs
	sync.Mutex
	name string
}

func (a *App) Run()  {}
func (a *App) Stop() {}

type tabs struct {
	*App
	open  []string
	front struct{ x, y int }
}

func (t *tabs) next() {
	if i := len(t.open); i > 0 {
		t.front.x, t.front.y = i, i
	}
}

type plain struct{ inner }

type inner struct{ a, b, c int }

func (i inner) sum() int { return i.a + i.b + i.c }

func show(p plain) {}
`

// loadSource loads a module with the package of source.
func loadSource(t *testing.T) *pkg {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.26\n",
		"p/p.go": source,
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != 1 {
		t.Fatalf("loaded %d packages, want 1", len(packages))
	}
	return packages[0]
}

func TestStatements(t *testing.T) {
	const want = 4 // in next an if, its declaration and an assignment, and the return of sum
	if got := loadSource(t).product.statements; got != want {
		t.Errorf("the package has %d statements, want %d", got, want)
	}
}

func TestEmbeddedPointersCount(t *testing.T) {
	type counts struct{ own, set, functions, fields, parts int }
	want := map[string]counts{
		"p.App":   {own: 2, set: 6, fields: 5, parts: 1, functions: 0}, // with Lock, Unlock, TryLock and next
		"p.tabs":  {own: 1, set: 6, fields: 5, parts: 1, functions: 0},
		"p.plain": {own: 0, set: 1, fields: 3, parts: 0, functions: 1},
		"p.inner": {own: 1, set: 1, fields: 3, parts: 0, functions: 0},
	}
	types := loadSource(t).types
	if len(types) != len(want) {
		t.Errorf("the package has %d types, want %d", len(types), len(want))
	}
	for _, measured := range types {
		got := counts{
			own:       measured.methods,
			set:       measured.methodSet,
			functions: measured.firstParameter,
			fields:    measured.fields,
			parts:     len(measured.parts),
		}
		if got != want[measured.name] {
			t.Errorf("%s has %+v, want %+v", measured.name, got, want[measured.name])
		}
	}
}

// TestExceededLimits checks that the worst excess of a measure comes first.
func TestExceededLimits(t *testing.T) {
	got := exceeded([]measured{
		{measure: functionLength, subject: "p.a", value: 101},
		{measure: packageCode, subject: "p", value: 4000},
		{measure: typeFields, subject: "p.A", value: 21},
		{measure: typeFields, subject: "p.C", value: 100},
		{measure: typeFields, subject: "p.B", value: 21},
		{measure: typeFields, subject: "p.D", value: 20},
	})
	want := []measured{
		{measure: typeFields, subject: "p.C", value: 100},
		{measure: typeFields, subject: "p.A", value: 21},
		{measure: typeFields, subject: "p.B", value: 21},
		{measure: functionLength, subject: "p.a", value: 101},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
