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
	"slices"
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
	if *update {
		write(t, path, got)
		return
	}
	compare(t, path, got, "go test -update, or make golden, rewrites it")
}

// CompareGuard compares an output with a guard, or writes the file. advice is the remedy
// for a difference.
func CompareGuard(t testing.TB, path, got, advice string) {
	t.Helper()
	if *updateGuards {
		write(t, path, got)
		return
	}
	compare(t, path, got, advice)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func compare(t testing.TB, path, got, advice string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (%s):\n%s", path, advice, Difference(string(want), got))
	}
}

const (
	contextLines = 2       // common lines to show before and after a change
	maxLines     = 200     // of a difference
	maxCells     = 1 << 22 // of the table in commonLines
)

// Difference returns the lines that differ between two texts, with the lines around them
// and their numbers in want.
func Difference(want, got string) string {
	wantLines := strings.SplitAfter(want, "\n")
	gotLines := strings.SplitAfter(got, "\n")
	shorter := min(len(wantLines), len(gotLines))
	start := 0 // number of equal lines at the start
	for start < shorter && wantLines[start] == gotLines[start] {
		start++
	}
	end := 0 // number of equal lines at the end
	for end < shorter-start && wantLines[len(wantLines)-1-end] == gotLines[len(gotLines)-1-end] {
		end++
	}

	wantEnd := len(wantLines) - end
	gotEnd := len(gotLines) - end
	var d difference
	for i := max(0, start-contextLines); i < start; i++ {
		d.add(alignedLine{common, i, wantLines[i]})
	}
	d.addChanges(start, wantLines[start:wantEnd], gotLines[start:gotEnd])
	for i := wantEnd; i < min(len(wantLines), wantEnd+contextLines); i++ {
		d.add(alignedLine{common, i, wantLines[i]})
	}
	return d.String()
}

// Signs of lines.
const (
	common  = ' '
	removed = '-' // only in want
	added   = '+' // only in got
)

// alignedLine is a line of one or of both texts.
type alignedLine struct {
	sign  byte
	index int // of the line in want, from 0; for an added line, of the next line of want
	text  string
}

func (l alignedLine) isChange() bool { return l.sign != common }

// difference is the text of a difference.
type difference struct {
	lines []string
	last  int // index of the last line in want
	count int // number of lines, also beyond maxLines
}

// add appends a line, after a heading with its number if lines before it were left out.
func (d *difference) add(line alignedLine) {
	d.count++
	if d.count > maxLines {
		return
	}
	if len(d.lines) == 0 || line.index > d.last+1 {
		d.lines = append(d.lines, fmt.Sprintf("line %d:", line.index+1))
	}
	d.last = line.index
	text, complete := strings.CutSuffix(line.text, "\n")
	if !complete && line.text != "" {
		text += "\\ no line break at the end"
	}
	d.lines = append(d.lines, string(line.sign)+" "+text)
}

// addChanges appends removed and added lines, and common lines next to them. offset is the index
// of the first line.
func (d *difference) addChanges(offset int, want, got []string) {
	lines := align(want, got)
	for i, line := range lines {
		nearby := lines[max(0, i-contextLines):min(len(lines), i+contextLines+1)]
		if slices.ContainsFunc(nearby, alignedLine.isChange) {
			line.index += offset
			d.add(line)
		}
	}
}

// align returns the lines of two texts in one list. Between common lines, those that were removed
// precede those that were added.
func align(want, got []string) []alignedLine {
	var lines []alignedLine
	var next position
	ends := position{want: len(want), got: len(got)}
	for _, match := range append(commonLines(want, got), ends) {
		for ; next.want < match.want; next.want++ {
			lines = append(lines, alignedLine{removed, next.want, want[next.want]})
		}
		for ; next.got < match.got; next.got++ {
			lines = append(lines, alignedLine{added, next.want, got[next.got]})
		}
		if match != ends {
			lines = append(lines, alignedLine{common, match.want, want[match.want]})
			next = position{want: match.want + 1, got: match.got + 1}
		}
	}
	return lines
}

// position is the indexes of a line in both texts.
type position struct{ want, got int }

// commonLines returns the positions of a longest sequence of lines that both texts have in
// this order, nil if the texts are too long.
func commonLines(want, got []string) []position {
	width := len(got) + 1
	if (len(want)+1)*width > maxCells {
		return nil
	}

	// The cell of a position has the length of the longest sequence from there to the ends.
	cells := make([]int32, (len(want)+1)*width)
	length := func(i, j int) *int32 { return &cells[i*width+j] }
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if want[i] == got[j] {
				*length(i, j) = *length(i+1, j+1) + 1
			} else {
				*length(i, j) = max(*length(i+1, j), *length(i, j+1))
			}
		}
	}

	var matches []position
	var current position
	for current.want < len(want) && current.got < len(got) {
		switch {
		case want[current.want] == got[current.got]:
			matches = append(matches, current)
			current.want++
			current.got++
		case *length(current.want+1, current.got) >= *length(current.want, current.got+1):
			current.want++
		default:
			current.got++
		}
	}
	return matches
}

// String returns the lines, and how many there are beyond the limit.
func (d *difference) String() string {
	text := strings.Join(d.lines, "\n")
	if d.count > maxLines {
		text += fmt.Sprintf("\n... and %d more lines", d.count-maxLines)
	}
	return text
}
