// Package goldentest compares outputs with files in the repository.
//
// A golden file shows the present output of the code: -update (make golden) rewrites it, and the
// change is reviewed in the diff. A guard records facts that must not change by accident: the
// checksums of released migrations, the public API, how often words are used. Only
// -update-guards (make guards) rewrites it.
package goldentest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var (
	update       = flag.Bool("update", false, "write the golden files instead of comparing with them")
	updateGuards = flag.Bool("update-guards", false, "write the files that guard against accidental changes")
)

// Updating reports whether golden files are written.
func Updating() bool { return *update }

// UpdatingGuards reports whether guards are written.
func UpdatingGuards() bool { return *updateGuards }

// Compare compares an output with a golden file, or writes the file.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	compare(t, path, got, *update, "go test -update, or make golden, rewrites it")
}

// CompareGuard compares an output with a guard, or writes the file. advice is the remedy
// for a difference.
func CompareGuard(t testing.TB, path, got, advice string) {
	t.Helper()
	compare(t, path, got, *updateGuards, advice)
}

func compare(t testing.TB, path, got string, write bool, advice string) {
	t.Helper()
	if write {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (%s):\n%s", path, advice, Difference(string(want), got))
	}
}

const (
	contextLines = 2
	maxLines     = 200     // of a difference
	maxCells     = 1 << 22 // of the table of common lines
)

// Difference returns the lines that differ between two texts, with the lines around them
// and their numbers in want.
func Difference(want, got string) string {
	old, new := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	start := 0
	for start < min(len(old), len(new)) && old[start] == new[start] {
		start++
	}
	end := 0
	for end < min(len(old), len(new))-start && old[len(old)-1-end] == new[len(new)-1-end] {
		end++
	}
	var d difference
	for i := max(0, start-contextLines); i < start; i++ {
		d.add(' ', i, old[i])
	}
	d.addChanges(start, old[start:len(old)-end], new[start:len(new)-end])
	for i := len(old) - end; i < min(len(old), len(old)-end+contextLines); i++ {
		d.add(' ', i, old[i])
	}
	return d.String()
}

// difference is the text of a difference.
type difference struct {
	lines []string
	last  int // number of the last line of the old text
	count int
}

// add appends a line. index is that of the line in the old text, from 0, or that of the
// next one for an added line.
func (d *difference) add(sign byte, index int, line string) {
	d.count++
	if d.count > maxLines {
		return
	}
	if len(d.lines) == 0 || index > d.last+1 {
		d.lines = append(d.lines, fmt.Sprintf("line %d:", index+1))
	}
	d.last = index
	text, complete := strings.CutSuffix(line, "\n")
	if !complete && line != "" {
		text += "\\ no line break at the end"
	}
	d.lines = append(d.lines, string(sign)+" "+text)
}

// addChanges appends removed and added lines, and common lines next to them.
func (d *difference) addChanges(offset int, old, new []string) {
	common := commonLines(old, new)
	near := make([]bool, len(old)+1) // positions in the old text close to a change
	i, j := 0, 0
	mark := func(position int) {
		for k := max(0, position-contextLines); k <= min(len(old), position+contextLines-1); k++ {
			near[k] = true
		}
	}
	for _, pair := range append(common, [2]int{len(old), len(new)}) {
		if pair[0] > i || pair[1] > j {
			mark(i)
			mark(pair[0])
		}
		i, j = pair[0]+1, pair[1]+1
	}
	i, j = 0, 0
	for _, pair := range append(common, [2]int{len(old), len(new)}) {
		for ; i < pair[0]; i++ {
			d.add('-', offset+i, old[i])
		}
		for ; j < pair[1]; j++ {
			d.add('+', offset+i, new[j])
		}
		if i < len(old) {
			if near[i] {
				d.add(' ', offset+i, old[i])
			}
			i, j = i+1, j+1
		}
	}
}

// commonLines returns the positions of a longest sequence of lines that both texts have in
// this order, nil if the texts are too long.
func commonLines(old, new []string) (pairs [][2]int) {
	width := len(new) + 1
	if (len(old)+1)*width > maxCells {
		return nil
	}
	lengths := make([]int32, (len(old)+1)*width)
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i] == new[j] {
				lengths[i*width+j] = lengths[(i+1)*width+j+1] + 1
			} else {
				lengths[i*width+j] = max(lengths[(i+1)*width+j], lengths[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(old) && j < len(new) {
		if old[i] == new[j] {
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		} else if lengths[(i+1)*width+j] >= lengths[i*width+j+1] {
			i++
		} else {
			j++
		}
	}
	return pairs
}

// String returns the lines, and how many there are beyond the limit.
func (d *difference) String() string {
	text := strings.Join(d.lines, "\n")
	if d.count > maxLines {
		text += fmt.Sprintf("\n... and %d more lines", d.count-maxLines)
	}
	return text
}
