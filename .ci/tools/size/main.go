// Command size measures the structure of the module whose directory is given:
// code lines by package, the lengths of functions and files, methods and fields
// of types, and knots (files of one package that depend on each other).
//
//	size [-most N] [-packages] DIR
//
// A code line has neither only blanks nor only a comment on it.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	rows := flag.Int("most", 10, "rows to print of each list")
	all := flag.Bool("packages", false, "print every package")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "size: name the directory of the module")
		os.Exit(2)
	}
	packages, err := load(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
	report(os.Stdout, packages, *rows, *all)
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
	fmt.Fprintln(t, "package\tcode\ttests\tfiles\tmethods elsewhere\tlargest knot\t")
	for _, p := range bySize[:min(rows, len(bySize))] {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t\n", p.name, p.product, p.tests, len(p.files), p.elsewhere(), p.knot)
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
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t\n", one.name, one.methods, one.firstParameter, len(one.in), one.fields)
	}
	t.Flush()
}
