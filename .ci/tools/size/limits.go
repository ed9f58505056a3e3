package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// The measures that have a limit.
const (
	packageCode      = "code lines"        // of a package
	packageFiles     = "files"             // of a package
	methodsElsewhere = "methods elsewhere" // of a package: in another file than their type
	fileCycle        = "file cycle"        // of a package: files that all depend on each other
	fileLength       = "file lines"
	functionLength   = "function lines"
	typeMethods      = "methods"            // of a type, with the functions that take it first
	typeFiles        = "files with methods" // of a type, or with functions that take it first
	typeFields       = "fields"             // of a type
)

// limits contains, for each measure, the value above which a reader should look. Nothing
// enforces them: enforced limits only move code until a number is low enough.
var limits = map[string]int{
	packageCode:      4000,
	packageFiles:     30,
	methodsElsewhere: 14,
	fileCycle:        10,
	fileLength:       500,
	functionLength:   100,
	typeMethods:      40,
	typeFiles:        3,
	typeFields:       20,
}

// smallPackage is the number of code lines up to which it does not matter that the files of a package
// depend on each other.
const smallPackage = 400

// smallType is the number of methods and functions up to which they may be in any file.
const smallType = 10

// measured is a measure of a package, type, file or function.
type measured struct {
	measure string // a key of limits
	subject string // the package, type, file or function
	value   int
}

// printExceeded prints the measures that exceed a limit: of each measure the highest value first.
func printExceeded(w io.Writer, packages []*pkg) {
	for _, m := range exceeded(measures(packages)) {
		fmt.Fprintf(w, "%s %s: %d\n", m.measure, m.subject, m.value)
	}
}

// exceeded returns the values above their limits, by measure and from the highest to the lowest.
func exceeded(values []measured) []measured {
	above := slices.DeleteFunc(slices.Clone(values), func(m measured) bool {
		return m.value <= limits[m.measure]
	})
	slices.SortFunc(above, func(a, b measured) int {
		return cmp.Or(
			strings.Compare(a.measure, b.measure),
			cmp.Compare(b.value, a.value),
			strings.Compare(a.subject, b.subject),
		)
	})
	return above
}

// measures returns the measures that have a limit, without those of tests and their support.
func measures(packages []*pkg) []measured {
	var values []measured
	add := func(measure, subject string, value int) {
		values = append(values, measured{measure: measure, subject: subject, value: value})
	}
	for _, p := range packages {
		if p.support() {
			continue
		}
		add(packageCode, p.name, p.product.lines)
		add(packageFiles, p.name, len(p.files))
		add(methodsElsewhere, p.name, p.elsewhere())
		if p.product.lines > smallPackage {
			add(fileCycle, p.name, p.cycle)
		}
		for file, lines := range p.files {
			add(fileLength, p.name+"/"+filepath.Base(file), lines)
		}
		for name, lines := range p.named {
			add(functionLength, p.name+"."+name, lines)
		}
		for _, t := range p.types {
			add(typeMethods, t.name, t.functions())
			add(typeFields, t.name, t.fields)
			if t.methods+t.firstParameter > smallType {
				add(typeFiles, t.name, t.files())
			}
		}
	}
	return values
}
