// Command size measures the structure of the module in a directory: code lines and
// statements by package, lengths of functions and files, methods and fields of types, and
// cycles (files of a package that depend on each other).
//
//	size [-rows N] [-packages] [-limits] DIR
//
// A code line is a line that is neither blank nor only a comment. Methods and fields of a
// type include those of embedded types, also through pointers. -limits prints only measures
// above the limits, which show where to look; no test enforces them.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	rows := flag.Int("rows", 10, "rows to print of each list")
	everyPackage := flag.Bool("packages", false, "print every package")
	onlyLimits := flag.Bool("limits", false, "print only the measures that exceed a limit")
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
	if *onlyLimits {
		printExceeded(os.Stdout, packages)
		return
	}
	if *everyPackage {
		*rows = len(packages)
	}
	report(os.Stdout, packages, *rows)
}

func report(w io.Writer, packages []*pkg, rows int) {
	printTotals(w, packages)
	printPackages(w, packages, rows)
	printLengths(w, packages)
	printTypes(w, packages, rows)
}

func printTotals(w io.Writer, packages []*pkg) {
	var product, support, tests size
	for _, p := range packages {
		if p.support() {
			support.add(p.product)
		} else {
			product.add(p.product)
		}
		tests.add(p.tests)
	}
	fmt.Fprintf(w, "code lines: product %d, test support %d, tests %d\n",
		product.lines, support.lines, tests.lines)
	fmt.Fprintf(w, "statements: product %d, test support %d, tests %d\n\n",
		product.statements, support.statements, tests.statements)
}

func printPackages(w io.Writer, packages []*pkg, rows int) {
	bySize := slices.SortedFunc(slices.Values(packages), func(a, b *pkg) int {
		return cmp.Compare(b.product.lines, a.product.lines)
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "package\tcode\tstatements\ttests\ttest statements\tfiles\tmethods elsewhere\tlargest cycle\t")
	for _, p := range bySize[:min(rows, len(bySize))] {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n",
			p.name, p.product.lines, p.product.statements, p.tests.lines, p.tests.statements,
			len(p.files), p.elsewhere(), p.cycle)
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
	percentile := func(p int) int { return values[(len(values)-1)*p/100] }
	return fmt.Sprintf("%d of them, p50 %d, p90 %d, max %d",
		len(values), percentile(50), percentile(90), percentile(100))
}

func printTypes(w io.Writer, packages []*pkg, rows int) {
	var listed []*typ
	byName := make(map[*types.TypeName]*typ)
	for _, p := range packages {
		for name, t := range p.types {
			listed = append(listed, t)
			byName[name] = t
		}
	}
	slices.SortFunc(listed, func(a, b *typ) int {
		return cmp.Or(cmp.Compare(b.functions(), a.functions()), strings.Compare(a.name, b.name))
	})
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "type\town methods\tmethod set\tfunctions on it\tin files\tfields\t"+
		"parts that hold it\town methods with theirs\t")
	for _, t := range listed[:min(rows, len(listed))] {
		together := t.methods // with those of its parts
		for _, part := range t.parts {
			together += byName[part].methods
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n",
			t.name, t.methods, t.methodSet, t.firstParameter, t.files(), t.fields, len(t.parts), together)
	}
	table.Flush()
}
