package readmetest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// The picture of the terminal, and the golden of the screen that it is drawn from.
const (
	terminalPicture = "cmd/daemon/docs/images/terminal.svg"
	terminalGolden  = "tui/testdata/S01-home.colour.golden"
	maxPicture      = 100_000 // bytes
	maxPagePicture  = 150_000 // of a web page, with its text as outlines
)

// Sizes of the picture in pixels.
const (
	cellWidth, cellHeight = 8.4, 18.0
	border                = 14.0
)

// sgrColours are the colours of SGR codes on a dark terminal.
var sgrColours = map[string]string{"31": "#ff7b72", "32": "#3fb950", "33": "#d29922", "34": "#58a6ff", "35": "#bc8cff", "36": "#39c5cf", "90": "#8b949e"}

const foreground, background = "#e6edf3", "#0d1117"

// sgr is a change of style as the goldens write it, such as {1;36}.
var sgr = regexp.MustCompile(`\{[0-9;]+\}`)

// style is how text is drawn.
type style struct {
	colour        string
	bold, reverse bool
}

func (s style) after(codes string) style {
	for code := range strings.SplitSeq(strings.Trim(codes, "{}"), ";") {
		switch code {
		case "0":
			s = style{colour: foreground}
		case "1":
			s.bold = true
		case "7":
			s.reverse = true
		default:
			if colour := sgrColours[code]; colour != "" {
				s.colour = colour
			}
		}
	}
	return s
}

// picture draws the lines of a screen as SVG. Every run of text has a fixed width, so
// that columns line up in any monospaced font; bars and rules are drawn as rectangles.
func picture(lines []string, columns int, description string) string {
	var b bytes.Buffer
	width, height := float64(columns)*cellWidth+2*border, float64(len(lines))*cellHeight+2*border
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" font-family=\"ui-monospace, 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\" role=\"img\">\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n", description, background)
	for row, line := range lines {
		s, column := style{colour: foreground}, 0
		for line != "" {
			codes := ""
			run := line
			if at := sgr.FindStringIndex(line); at != nil {
				run, codes = line[:at[0]], line[at[0]:at[1]]
			}
			line = line[len(run)+len(codes):]
			drawRun(&b, run, s, column, border+float64(row)*cellHeight)
			column += utf8.RuneCountInString(run)
			s = s.after(codes)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// drawRun draws text of one style, starting in a column.
func drawRun(b *bytes.Buffer, run string, s style, column int, y float64) {
	x := func(cell int) float64 { return border + float64(column+cell)*cellWidth }
	runes := []rune(run)
	if s.reverse {
		fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x(0), y, float64(len(runes))*cellWidth, cellHeight, s.colour)
		s.colour = background
	}
	for from := 0; from < len(runes); {
		to := from + 1
		class := runeClass(runes[from])
		for to < len(runes) && runeClass(runes[to]) == class && (class != bar || runes[to] == runes[from]) {
			to++
		}
		length := float64(to-from) * cellWidth
		switch class {
		case bar:
			h := float64(runes[from]-'▁'+1) / 8 * cellHeight
			fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"%s\"/>\n", x(from), y+cellHeight-h, length, h, s.colour)
		case rule:
			fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"1\" fill=\"%s\"/>\n", x(from), y+cellHeight/2, length, s.colour)
		case text:
			words := string(runes[from:to])
			trimmed := strings.TrimLeft(words, " ")
			first := from + utf8.RuneCountInString(words) - utf8.RuneCountInString(trimmed)
			if trimmed = strings.TrimRight(trimmed, " "); trimmed == "" {
				break
			}
			weight := ""
			if s.bold {
				weight = ` font-weight="bold"`
			}
			fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" textLength=\"%.1f\" fill=\"%s\"%s xml:space=\"preserve\">", x(first), y+cellHeight*0.75, float64(utf8.RuneCountInString(trimmed))*cellWidth, s.colour, weight)
			_ = xml.EscapeText(b, []byte(trimmed))
			b.WriteString("</text>\n")
		}
		from = to
	}
}

// How a rune is drawn.
const (
	text = iota
	bar  // a block of an eighth to a full cell
	rule // a horizontal line
)

func runeClass(r rune) int {
	switch {
	case r >= '▁' && r <= '█':
		return bar
	case r == '─':
		return rule
	}
	return text
}

// TestPictures checks that the manual's pictures are small SVG files.
func TestPictures(t *testing.T) {
	files, err := os.ReadDir(filepath.Join(root, "cmd/daemon/docs/images"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(f.Name()) != ".svg" || info.Size() > maxPagePicture {
			t.Errorf("%s has %d bytes; pictures are SVG of at most %d", f.Name(), info.Size(), maxPagePicture)
		}
	}
}

// TestTerminalPicture compares the picture of the terminal with the golden that it is
// drawn from; -update writes it.
func TestTerminalPicture(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join(root, terminalGolden))
	if err != nil {
		t.Fatal(err)
	}
	_, screen, found := strings.Cut(string(golden), "== 80x24\n")
	if !found {
		t.Fatalf("%s has no screen of 80x24", terminalGolden)
	}
	screen, _, _ = strings.Cut(screen, "\n== ")
	want := picture(strings.Split(strings.TrimSuffix(screen, "\n"), "\n"), 80, "The home screen of whctl tui")
	if len(want) > maxPicture {
		t.Errorf("the picture has %d bytes, at most %d are allowed", len(want), maxPicture)
	}
	name := filepath.Join(root, terminalPicture)
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%s is stale (%v): run make golden", terminalPicture, err)
	}
}
