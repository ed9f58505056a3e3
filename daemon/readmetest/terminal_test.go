package readmetest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bizhook/whd/client/goldentest"
)

// The picture of the terminal, and the recording that it is drawn from.
const (
	terminalPicture = "cmd/daemon/docs/images/terminal.svg"
	terminalCast    = "cmd/whctl/docs/tui.cast"
	maxPicture      = 150_000 // bytes
	maxPagePicture  = 150_000 // of a web page, with its text as outlines
)

// Sizes of the picture in pixels.
const (
	cellWidth, cellHeight = 8.4, 18.0
	border                = 14.0
	gap                   = 16.0 // between screens
)

// sgrColours are the colours of SGR codes on a dark terminal.
var sgrColours = map[string]string{
	"31": "#ff7b72",
	"32": "#3fb950",
	"33": "#d29922",
	"34": "#58a6ff",
	"35": "#bc8cff",
	"36": "#39c5cf",
	"90": "#8b949e",
}

const foreground, background = "#e6edf3", "#0d1117"

// sgr is a change of style, such as {1;36}. The recording has castStyle, and castLine before
// each line.
var (
	sgr       = regexp.MustCompile(`\{[0-9;]+\}`)
	castStyle = regexp.MustCompile("\x1b\\[([0-9;]+)m")
	castLine  = regexp.MustCompile("\x1b\\[([0-9]+);1H")
)

// style is how text is drawn.
type style struct {
	colour        string
	behind        string // colour of the background, "" for that of the terminal
	bold, reverse bool
}

func (s style) after(codes string) style {
	parameters := strings.Split(strings.Trim(codes, "{}"), ";")
	for i := 0; i < len(parameters); i++ {
		code := parameters[i]
		isTrueColour := i+trueColourLength <= len(parameters) && parameters[i+1] == "2"
		switch {
		case isTrueColour && code == "38":
			s.colour = hexColour(parameters[i+2 : i+trueColourLength])
			i += trueColourLength - 1
		case isTrueColour && code == "48":
			s.behind = hexColour(parameters[i+2 : i+trueColourLength])
			i += trueColourLength - 1
		default:
			s = s.afterCode(code)
		}
	}
	return s
}

// trueColourLength is the number of parameters of a colour such as 38;2;255;0;0.
const trueColourLength = 5

// hexColour returns the colour with the given parts, such as #ff0000.
func hexColour(parts []string) string {
	colour := "#"
	for _, part := range parts {
		value, _ := strconv.Atoi(part)
		colour += fmt.Sprintf("%02x", value)
	}
	return colour
}

// afterCode returns the style after a parameter of one number.
func (s style) afterCode(code string) style {
	switch code {
	case "0":
		return style{colour: foreground}
	case "1":
		s.bold = true
	case "7":
		s.reverse = true
	default:
		if colour := sgrColours[code]; colour != "" {
			s.colour = colour
		}
	}
	return s
}

// picture draws screens as SVG, two in a row. Every run of text has a fixed width, so
// that columns line up in any monospaced font; bars and rules are drawn as rectangles.
func picture(columns int, description string, screens ...[]string) string {
	var b bytes.Buffer
	screenWidth := float64(columns)*cellWidth + 2*border
	screenHeight := float64(len(screens[0]))*cellHeight + 2*border
	width := float64(min(2, len(screens)))*(screenWidth+gap) - gap
	height := float64((len(screens)+1)/2)*(screenHeight+gap) - gap
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" font-family=\"ui-monospace, 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\" role=\"img\">\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", description)
	for i, lines := range screens {
		left := float64(i%2) * (screenWidth + gap)
		top := float64(i/2) * (screenHeight + gap)
		fmt.Fprintf(&b, "<g transform=\"translate(%.0f %.0f)\">\n", left, top)
		fmt.Fprintf(&b, "<rect width=\"%.0f\" height=\"%.0f\" rx=\"8\" fill=\"%s\"/>\n", screenWidth,
			screenHeight, background)
		drawScreen(&b, lines)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// drawScreen draws the lines of a screen.
func drawScreen(b *bytes.Buffer, lines []string) {
	for row, line := range lines {
		s, column := style{colour: foreground}, 0
		for line != "" {
			codes := ""
			run := line
			if at := sgr.FindStringIndex(line); at != nil {
				run, codes = line[:at[0]], line[at[0]:at[1]]
			}
			line = line[len(run)+len(codes):]
			drawRun(b, run, s, column, border+float64(row)*cellHeight)
			column += utf8.RuneCountInString(run)
			s = s.after(codes)
		}
	}
}

// drawRun draws text of one style, starting in a column.
func drawRun(b *bytes.Buffer, run string, s style, column int, y float64) {
	x := func(cell int) float64 { return border + float64(column+cell)*cellWidth }
	runes := []rune(run)
	if s.reverse { // the colours of the text and of its background are exchanged
		s.colour, s.behind = background, s.colour
	}
	if s.behind != "" {
		fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
			x(0), y, float64(len(runes))*cellWidth, cellHeight, s.behind)
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
			fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"1\" fill=\"%s\"/>\n",
				x(from), y+cellHeight/2, length, s.colour)
		case text:
			words := string(runes[from:to])
			trimmed := strings.TrimLeft(words, " ")
			first := from + utf8.RuneCountInString(words) - utf8.RuneCountInString(trimmed)
			trimmed = strings.TrimRight(trimmed, " ")
			if trimmed == "" {
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
	if r >= '▁' && r <= '█' {
		return bar
	}
	if r == '─' {
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

// TestTerminalPicture compares the picture of the terminal with the marked screens of the
// recording that it is drawn from; -update writes it.
func TestTerminalPicture(t *testing.T) {
	cast, err := os.ReadFile(filepath.Join(root, terminalCast))
	if err != nil {
		t.Fatal(err)
	}
	if len(cast) > maxPicture {
		t.Errorf("the recording has %d bytes, at most %d are allowed", len(cast), maxPicture)
	}

	head, events, _ := strings.Cut(string(cast), "\n")
	var size struct{ Width, Height int }
	if err := json.Unmarshal([]byte(head), &size); err != nil {
		t.Fatal(err)
	}

	lines := make([]string, size.Height)
	var screens [][]string
	for line := range strings.Lines(events) {
		var event [3]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		if event[1] == "m" {
			screens = append(screens, slices.Clone(lines))
			continue
		}
		output := castStyle.ReplaceAllString(event[2].(string), "{$1}")
		for _, at := range slices.Backward(castLine.FindAllStringSubmatchIndex(output, -1)) {
			row, _ := strconv.Atoi(output[at[2]:at[3]])
			lines[row-1], output = output[at[1]:], output[:at[0]]
		}
	}

	want := picture(size.Width, "Screens of whctl tui: home, records with a filter, a message with its attempts, and the history of its key", screens...)
	if len(want) > maxPicture {
		t.Errorf("the picture has %d bytes, at most %d are allowed", len(want), maxPicture)
	}

	name := filepath.Join(root, terminalPicture)
	if goldentest.Updating() {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%s is stale (%v): run make golden", terminalPicture, err)
	}
}
