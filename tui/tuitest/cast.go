package tuitest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/bizhook/whd/client/goldentest"
)

// Cast is a recording of the screen in the format asciicast v2, which asciinema plays. Text
// that differs between runs is replaced as in golden files, and the times are those of the
// calls, so that a recording only changes with the screens.
type Cast struct {
	*Driver
	elapsed time.Duration // time of the next event
	lines   []string      // lines of the screen
	out     strings.Builder
}

// StartCast starts a recording of a screen of 80x24.
func StartCast(d *Driver, title string) *Cast {
	c := &Cast{Driver: d}
	c.write(map[string]any{"version": 2, "width": d.width, "height": d.height, "title": title})
	c.event("o", "\x1b[?25l\x1b[2J") // without cursor
	return c
}

// write adds a line of JSON.
func (c *Cast) write(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		c.T.Fatal(err)
	}
	c.out.Write(append(text, '\n'))
}

// event adds an event of a kind: "o" for output, "m" for a mark.
func (c *Cast) event(kind, text string) {
	c.write([]any{c.elapsed.Seconds(), kind, text})
}

// axis matches the time axis of the home screen after the replacement of times.
var axis = regexp.MustCompile(`14:02( {15})14:02( {15})14:02`)

// shortGap and longGap match the time between two attempts, which the service makes at its own pace:
// with one digit, or with two and the text up to the blanks that fill the line.
var (
	shortGap = regexp.MustCompile(`(✗(?:\{[0-9;]*\})*) \d[smh](\{|  )`)
	longGap  = regexp.MustCompile(`(✗(?:\{[0-9;]*\})*) \d\d[smh]((?:\{|  ).*? {3})`)
)

// screen returns the screen with the same times in each run.
func (c *Cast) screen() string {
	text := axis.ReplaceAllString(c.render("colour"), "13:03${1}13:23${2}13:43")
	text = shortGap.ReplaceAllString(text, "${1} 0s${2}")
	return longGap.ReplaceAllString(text, "${1} 0s${2} ")
}

// Show records the lines that have changed, and shows them for some time.
func (c *Cast) Show(hold time.Duration) {
	var changed strings.Builder
	lines := strings.Split(styled.ReplaceAllString(joinSpans(c.screen()), "\x1b[${1}m"), "\n")
	for i, line := range lines {
		if i >= len(c.lines) || c.lines[i] != line {
			fmt.Fprintf(&changed, "\x1b[%d;1H%s", i+1, line)
		}
	}
	c.lines = lines
	if changed.Len() > 0 {
		c.event("o", changed.String())
	}
	c.elapsed += hold
}

// joinSpans joins texts of the same style: one may end after a text that was replaced, and so depend
// on the length that this had.
func joinSpans(text string) string {
	const reset = "{0}"
	var joined strings.Builder
	marks := styled.FindAllStringIndex(text, -1)
	style, end := "", 0 // of the text so far
	for i, mark := range marks {
		if mark[0] < end {
			continue
		}
		isSame := false
		if text[mark[0]:mark[1]] == reset && i+1 < len(marks) {
			next := marks[i+1]
			isSame = next[0] == mark[1] && text[next[0]:next[1]] == style
		}
		if isSame {
			joined.WriteString(text[end:mark[0]])
			end = marks[i+1][1]
			continue
		}
		joined.WriteString(text[end:mark[1]])
		end = mark[1]
		style = text[mark[0]:mark[1]]
	}
	joined.WriteString(text[end:])
	return joined.String()
}

// Type presses keys, one after the other, and shows the last screen for some time.
func (c *Cast) Type(hold time.Duration, keys ...string) {
	c.T.Helper()
	for _, key := range keys {
		if text, ok := strings.CutPrefix(key, "'"); ok {
			for _, r := range text {
				c.Press("'" + string(r))
				c.Show(120 * time.Millisecond)
			}
			continue
		}
		c.Press(key)
		c.Show(400 * time.Millisecond)
	}
	c.elapsed += hold
}

// Mark marks the current screen with a name.
func (c *Cast) Mark(name string) { c.event("m", name) }

// Compare compares the recording with a file.
func (c *Cast) Compare(path string) {
	c.T.Helper()
	goldentest.Compare(c.T, path, c.out.String())
}
