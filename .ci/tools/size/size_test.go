package main

import (
	"os"
	"path/filepath"
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

func TestEmbeddedPointersCount(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.org/m\n\ngo 1.26\n", "p/p.go": source} {
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
	// if, its declaration, the assignment, return
	if got := packages[0].product.statements; got != 4 {
		t.Errorf("the package has %d statements, want 4", got)
	}

	type counts struct{ own, set, functions, fields, parts int }
	want := map[string]counts{
		"p.App":   {own: 2, set: 6, fields: 5, parts: 1, functions: 0}, // with Lock, Unlock, TryLock and next
		"p.tabs":  {own: 1, set: 6, fields: 5, parts: 1, functions: 0},
		"p.plain": {own: 0, set: 1, fields: 3, parts: 0, functions: 1},
		"p.inner": {own: 1, set: 1, fields: 3, parts: 0, functions: 0},
	}
	for _, measured := range packages[0].types {
		got := counts{measured.methods, measured.methodSet, measured.firstParameter, measured.fields, len(measured.parts)}
		if got != want[measured.name] {
			t.Errorf("%s has %+v, want %+v", measured.name, got, want[measured.name])
		}
	}
}
