// Command style finds statements that do more than their place suggests, and names without
// meaning, in the Go files of a module:
//
//	style [-counts] [-list] DIR
//
//	effect    a call or assignment in the header of an if or switch that its condition does not
//	          test; declarations, and err and ok, may be assigned there and tested
//	parallel  an assignment of three or more values at once
//	lookup    an index into a literal
//	switch    a switch without a subject that has fewer than three alternatives, or cases of more
//	          than two conditions
//	name      a local name that is a function word: one, is, of, again, given, was, own, more,
//	          rest, and any or all if the syntax shows a bool
//
// It fails if a package has more findings than ceilings.txt allows; those may only shrink, and
// -update-ceilings writes them. A file in allowances.txt is not checked: each line has the path,
// the rule, and the benchmark that shows the benefit.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	var o options
	flag.BoolVar(&o.counts, "counts", false, "print the findings of each package per 1,000 code lines")
	flag.BoolVar(&o.list, "list", false, "print all findings, also those that the ceilings allow")
	flag.BoolVar(&o.update, "update-ceilings", false, "write the present findings of each package as its ceilings")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "style: expected one argument, the directory of the module")
		os.Exit(2)
	}
	ok, err := o.check(os.Stdout, flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "style:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

type options struct{ counts, list, update bool }

// located is a finding with its place. The file is relative to the module.
type located struct {
	finding
	place token.Position
}

func (l located) String() string { return fmt.Sprintf("%s: %s (%s)", l.place, l.text, l.rule) }

// subject is a package, by its directory, and a rule. Each one has a ceiling.
type subject struct{ dir, rule string }

func (l located) subject() subject {
	return subject{dir: filepath.ToSlash(filepath.Dir(l.place.Filename)), rule: l.rule}
}

// check compares the findings in a module with the ceilings, and reports whether they agree.
func (o options) check(w io.Writer, dir string) (ok bool, err error) {
	findings, lines, err := analyse(dir)
	if err != nil {
		return false, err
	}
	counts := make(map[subject]int)
	for _, f := range findings {
		counts[f.subject()]++
	}
	if o.counts {
		printCounts(w, counts, lines)
	}
	if o.update {
		return true, writeCeilings(counts)
	}
	ceilings, err := readCeilings()
	if err != nil {
		return false, err
	}

	ok = true
	for _, f := range findings {
		s := f.subject()
		isAbove := counts[s] > ceilings[s]
		if isAbove {
			ok = false
		}
		if isAbove || o.list {
			fmt.Fprintln(w, f)
		}
	}
	for s, ceiling := range ceilings {
		if counts[s] < ceiling {
			ok = false
			fmt.Fprintf(w, "%s: %d findings of rule %s, and ceilings.txt allows %d: lower it by -update-ceilings\n",
				s.dir, counts[s], s.rule, ceiling)
		}
	}
	return ok, nil
}

// analyse returns the findings in a module in the order of their places, and the number of code
// lines of each directory.
func analyse(root string) ([]located, map[string]int, error) {
	allowances, err := readAllowances()
	if err != nil {
		return nil, nil, err
	}
	names, err := goFiles(root)
	if err != nil {
		return nil, nil, err
	}
	var findings []located
	lines := make(map[string]int)
	files := token.NewFileSet()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, nil, err
		}
		file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		lines[filepath.Dir(name)] += codeLines(text)
		for _, f := range check(file) {
			if !allowances[allowance{filepath.ToSlash(name), f.rule}] {
				findings = append(findings, located{f, files.Position(f.pos)})
			}
		}
	}
	return findings, lines, nil
}

// goFiles returns the names of the Go files in a module, relative to its root. Hidden directories
// other than .ci, test data and programs are left out.
func goFiles(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			isHidden := strings.HasPrefix(entry.Name(), ".") && name != "." && name != ".ci"
			if isHidden || entry.Name() == "testdata" || entry.Name() == "bin" {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) == ".go" {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// codeLines returns the number of lines that are neither blank nor only a comment.
func codeLines(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			n++
		}
	}
	return n
}

// printCounts prints the packages with the most findings first.
func printCounts(w io.Writer, counts map[subject]int, lines map[string]int) {
	total := func(dir string) (n int) {
		for _, rule := range rules {
			n += counts[subject{dir, rule}]
		}
		return n
	}
	dirs := slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(total(b), total(a)), strings.Compare(a, b))
	})

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "package\tlines\t%s\t\n", strings.Join(rules, "\t"))
	allLines := 0
	sums := make(map[string]int) // by rule
	for _, dir := range dirs {
		allLines += lines[dir]
		if total(dir) == 0 {
			continue
		}
		fmt.Fprintf(t, "%s\t%d", dir, lines[dir])
		for _, rule := range rules {
			n := counts[subject{dir, rule}]
			sums[rule] += n
			fmt.Fprintf(t, "\t%d", n)
		}
		fmt.Fprint(t, "\t\n")
	}
	fmt.Fprintf(t, "all\t%d", allLines)
	for _, rule := range rules {
		fmt.Fprintf(t, "\t%d", sums[rule])
	}
	fmt.Fprint(t, "\t\nper 1,000 lines\t")
	for _, rule := range rules {
		fmt.Fprintf(t, "\t%.2f", 1000*float64(sums[rule])/float64(allLines))
	}
	fmt.Fprint(t, "\t\n")
	t.Flush()
}

const (
	ceilingsFile   = "style/ceilings.txt"
	allowancesFile = "style/allowances.txt"
)

// allowance is a file that may break a rule.
type allowance struct{ file, rule string }

func readAllowances() (map[allowance]bool, error) {
	allowed := make(map[allowance]bool)
	err := readLines(allowancesFile, func(fields []string) error {
		if len(fields) != 3 {
			return fmt.Errorf("%q: expected a file, a rule and a benchmark", strings.Join(fields, " "))
		}
		allowed[allowance{fields[0], fields[1]}] = true
		return nil
	})
	return allowed, err
}

func readCeilings() (map[subject]int, error) {
	ceilings := make(map[subject]int)
	err := readLines(ceilingsFile, func(fields []string) error {
		if len(fields) != 3 {
			return fmt.Errorf("%q: expected a package, a rule and a number", strings.Join(fields, " "))
		}
		var n int
		_, err := fmt.Sscan(fields[2], &n)
		ceilings[subject{fields[0], fields[1]}] = n
		return err
	})
	return ceilings, err
}

func writeCeilings(counts map[subject]int) error {
	var text strings.Builder
	text.WriteString("# The findings of each package that remain. They may only shrink.\n")
	subjects := slices.SortedFunc(maps.Keys(counts), func(a, b subject) int {
		return cmp.Or(strings.Compare(a.dir, b.dir), strings.Compare(a.rule, b.rule))
	})
	for _, s := range subjects {
		fmt.Fprintln(&text, s.dir, s.rule, counts[s])
	}
	return os.WriteFile(ceilingsFile, []byte(text.String()), 0o644)
}

// readLines calls read with the fields of each line that is not a comment.
func readLines(file string, read func(fields []string) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		fields := strings.Fields(scanner.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		err := read(fields)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return scanner.Err()
}
