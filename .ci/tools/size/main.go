// Command size measures the structure of the module in a directory: code lines by
// package, lengths of functions and files, methods and fields of types, and cycles (files
// of a package that depend on each other).
//
//	size [-rows N] [-packages] [-json] DIR
//
// A code line is a line that is neither blank nor only a comment.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	rows := flag.Int("rows", 10, "rows to print of each list")
	all := flag.Bool("packages", false, "print every package")
	asJSON := flag.Bool("json", false, "print the measures that package arch limits, as JSON")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "size: expected one argument, the directory of the module")
		os.Exit(2)
	}
	packages, err := load(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
	if !*asJSON {
		report(os.Stdout, packages, *rows, *all)
		return
	}
	if err := json.NewEncoder(os.Stdout).Encode(limited(packages)); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

// measured is a measure of a package, type, file or function.
type measured struct {
	Measure string // such as "files" or "methods"
	Of      string // the package, type, file or function
	Value   int
}

// limited returns the measures that package arch limits, without those of tests and their
// support.
func limited(packages []*pkg) (all []measured) {
	for _, p := range packages {
		if p.support() {
			continue
		}
		all = append(all, measured{"code lines", p.name, p.product}, measured{"files", p.name, len(p.files)}, measured{"methods elsewhere", p.name, p.elsewhere()})
		if p.product > 400 {
			all = append(all, measured{"file cycle", p.name, p.cycle})
		}
		for file, lines := range p.files {
			all = append(all, measured{"file lines", p.name + "/" + filepath.Base(file), lines})
		}
		for name, lines := range p.named {
			all = append(all, measured{"function lines", p.name + "." + name, lines})
		}
		for _, t := range p.types {
			all = append(all, measured{"methods", t.name, t.functions()}, measured{"fields", t.name, t.fields})
			if t.functions() > 10 { // smaller types may be spread: many functions take them as a value
				all = append(all, measured{"files of", t.name, t.files()})
			}
		}
	}
	return all
}

func report(w io.Writer, packages []*pkg, rows int, all bool) {
	printTotals(w, packages)
	if all {
		rows = len(packages)
	}
	printPackages(w, packages, rows)
	printLengths(w, packages)
	printTypes(w, packages, rows)
}

func printTotals(w io.Writer, packages []*pkg) {
	var product, support, tests int
	for _, p := range packages {
		if p.support() {
			support += p.product
		} else {
			product += p.product
		}
		tests += p.tests
	}
	fmt.Fprintf(w, "code lines: product %d, test support %d, tests %d\n\n", product, support, tests)
}

func printPackages(w io.Writer, packages []*pkg, rows int) {
	bySize := slices.SortedFunc(slices.Values(packages), func(a, b *pkg) int { return cmp.Compare(b.product, a.product) })
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "package\tcode\ttests\tfiles\tmethods elsewhere\tlargest cycle\t")
	for _, p := range bySize[:min(rows, len(bySize))] {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t\n", p.name, p.product, p.tests, len(p.files), p.elsewhere(), p.cycle)
	}
	t.Flush()
	fmt.Fprintln(w)
}

func printLengths(w io.Writer, packages []*pkg) {
	var functions, files []int
	for _, p := range packages {
		if p.support() {
			continue
		}
		functions = append(functions, p.functions...)
		for _, lines := range p.files {
			files = append(files, lines)
		}
	}
	fmt.Fprintf(w, "functions, lines: %s\nfiles, lines: %s\n\n", percentiles(functions), percentiles(files))
}

func percentiles(values []int) string {
	if len(values) == 0 {
		return "none"
	}
	slices.Sort(values)
	at := func(share int) int { return values[(len(values)-1)*share/100] }
	return fmt.Sprintf("%d of them, p50 %d, p90 %d, max %d", len(values), at(50), at(90), at(100))
}

func printTypes(w io.Writer, packages []*pkg, rows int) {
	var types []*typ
	for _, p := range packages {
		for _, t := range p.types {
			types = append(types, t)
		}
	}
	slices.SortFunc(types, func(a, b *typ) int {
		return cmp.Or(cmp.Compare(b.functions(), a.functions()), strings.Compare(a.name, b.name))
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "type\tmethods\tfunctions on it\tin files\tfields\t")
	for _, one := range types[:min(rows, len(types))] {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t\n", one.name, one.methods, one.firstParameter, one.files(), one.fields)
	}
	t.Flush()
}
