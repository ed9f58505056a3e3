package main

import (
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestCheck compares the findings of each line of the sample with the pattern behind its word
// want.
func TestCheck(t *testing.T) {
	const sample = "testdata/sample.go"
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, sample, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[int][]string)
	for _, f := range check(file) {
		line := files.Position(f.pos).Line
		found[line] = append(found[line], f.text)
	}

	want := regexp.MustCompile("// want `(.*)`$")
	for i, line := range strings.Split(string(text), "\n") {
		got := strings.Join(found[i+1], "; ")
		pattern := want.FindStringSubmatch(line)
		if pattern == nil && got != "" {
			t.Errorf("line %d: found %s, want nothing in %s", i+1, got, line)
		}
		if pattern != nil && !strings.Contains(got, pattern[1]) {
			t.Errorf("line %d: found %q, want %s", i+1, got, pattern[1])
		}
	}
}
