package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// limits contains, for each measure, the value above which a reader should look. Nothing
// enforces them: enforced limits only move code until a number is low enough.
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

// measured is a measure of a package, type, file or function.
type measured struct {
	measure string // a key of limits
	subject string // the package, type, file or function
	value   int
}

// printExceeded prints the measures that exceed a limit, sorted.
func printExceeded(w io.Writer, packages []*pkg) {
	var lines []string
	for _, m := range limited(packages) {
		if m.value > limits[m.measure] {
			lines = append(lines, fmt.Sprintf("%s %s: %d", m.measure, m.subject, m.value))
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
}

// limited returns the measures that have a limit, without those of tests and their support.
func limited(packages []*pkg) []measured {
	var measures []measured
	add := func(measure, subject string, value int) {
		measures = append(measures, measured{measure: measure, subject: subject, value: value})
	}
	for _, p := range packages {
		if p.support() {
			continue
		}
		add("code lines", p.name, p.product.lines)
		add("files", p.name, len(p.files))
		add("methods elsewhere", p.name, p.elsewhere())
		if p.product.lines > 400 {
			add("file cycle", p.name, p.cycle)
		}
		for file, lines := range p.files {
			add("file lines", p.name+"/"+filepath.Base(file), lines)
		}
		for name, lines := range p.named {
			add("function lines", p.name+"."+name, lines)
		}
		for _, t := range p.types {
			add("methods", t.name, t.functions())
			add("fields", t.name, t.fields)
			if t.methods+t.firstParameter > 10 { // functions that take a small type may be anywhere
				add("files of", t.name, t.files())
			}
		}
	}
	return measures
}
