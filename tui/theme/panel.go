package theme

import "strings"

// Panel is a part of the screen with a frame. Panels that are next to each other share their
// edges.
type Panel struct {
	X, Y          int // the top left corner of the frame, in cells; the content starts at X+1, Y+1
	Width, Height int // of the content, in cells
	Title         []Span
	Note          []Span // at the end of the upper edge
	Focused       bool
	Lines         []string // of Width cells each; lines beyond Height are not drawn, missing ones are blank
}

// edges are the directions in which a line leaves a cell of a frame.
type edges uint8

const (
	up edges = 1 << iota
	right
	down
	left
)

// canvas is the screen that panels are drawn on.
type canvas struct {
	theme   *Theme
	width   int
	edges   []edges // of each cell
	focused []bool  // cells of the frame of the panel with the focus
	texts   []placedText
	starts  []int32 // index of the text that starts in a cell, counted from 1; 0 for none
}

// placedText is a text with styles, and its width in cells.
type placedText struct {
	text  string
	width int
}

// Panels draws panels with their frames in height lines of width cells.
func (t *Theme) Panels(width, height int, panels []Panel) []string {
	c := canvas{
		theme:   t,
		width:   width,
		edges:   make([]edges, width*height),
		focused: make([]bool, width*height),
		starts:  make([]int32, width*height),
	}
	for _, p := range panels {
		c.frame(p)
	}
	for _, p := range panels {
		c.heading(p)
		for i, line := range p.Lines[:min(len(p.Lines), p.Height)] {
			c.place(p.X+1, p.Y+1+i, placedText{line, p.Width})
		}
	}
	lines := make([]string, height)
	for y := range lines {
		lines[y] = c.line(y)
	}
	return lines
}

// frame adds the edges of a panel.
func (c *canvas) frame(p Panel) {
	endX, endY := p.X+p.Width+1, p.Y+p.Height+1
	for x := p.X; x < endX; x++ {
		for _, y := range [...]int{p.Y, endY} {
			c.join(x, y, right, p.Focused)
			c.join(x+1, y, left, p.Focused)
		}
	}
	for y := p.Y; y < endY; y++ {
		for _, x := range [...]int{p.X, endX} {
			c.join(x, y, down, p.Focused)
			c.join(x, y+1, up, p.Focused)
		}
	}
}

// join adds a line from a cell in a direction.
func (c *canvas) join(x, y int, direction edges, focused bool) {
	i := y*c.width + x
	if x >= c.width || i >= len(c.edges) {
		return
	}
	c.edges[i] |= direction
	c.focused[i] = c.focused[i] || focused
}

// heading places the title and the note of a panel on its upper edge. A title that does not
// fit is truncated, and omitted where no cell is left for it.
func (c *canvas) heading(p Panel) {
	note, noteWidth := c.label(p.Note, p.Width)
	if noteWidth > 0 {
		c.place(p.X+1+p.Width-noteWidth, p.Y, placedText{note, noteWidth})
	}
	title, titleWidth := c.label(p.Title, p.Width-noteWidth-1)
	if titleWidth > 0 {
		c.place(p.X+1, p.Y, placedText{title, titleWidth})
	}
}

// label draws spans with a space on each side, and returns their width: "" and 0 if there are no
// spans, or no room for the spaces and a cell between them.
func (c *canvas) label(spans []Span, room int) (string, int) {
	const spaces = 2
	if len(spans) == 0 || room <= spaces {
		return "", 0
	}
	drawn, width := c.theme.appendSpans([]byte(" "), Plain, spans, room-spaces)
	return string(append(drawn, ' ')), width + spaces
}

// place puts a text in the cells from x in line y. A text that reaches beyond the right edge of the
// canvas, or is below it, is not drawn.
func (c *canvas) place(x, y int, text placedText) {
	i := y*c.width + x
	if text.width == 0 || x+text.width > c.width || i >= len(c.starts) {
		return
	}
	c.texts = append(c.texts, text)
	c.starts[i] = int32(len(c.texts))
}

// line draws a line of the canvas.
func (c *canvas) line(y int) string {
	var out []byte
	row := y * c.width
	for x := 0; x < c.width; {
		if n := c.starts[row+x]; n > 0 {
			out = append(out, c.texts[n-1].text...)
			x += c.texts[n-1].width
			continue
		}
		end := c.runEnd(row, x)
		role := Rule
		if c.focused[row+x] {
			role = Frame
		}
		var run strings.Builder
		for ; x < end; x++ {
			run.WriteString(c.theme.corner(c.edges[row+x]))
		}
		out = c.theme.Append(out, role, Plain, run.String())
	}
	return string(out)
}

// runEnd returns the end of the cells from x that have the same style and no text.
func (c *canvas) runEnd(row, x int) int {
	end := x + 1
	for end < c.width && c.starts[row+end] == 0 && c.focused[row+end] == c.focused[row+x] {
		end++
	}
	return end
}

// corner returns the symbol of a cell of a frame.
func (t *Theme) corner(e edges) string {
	switch e {
	case 0:
		return " "
	case up | down:
		return t.border.Left
	case right | left:
		return t.border.Top
	case right | down:
		return t.border.TopLeft
	case left | down:
		return t.border.TopRight
	case right | up:
		return t.border.BottomLeft
	case left | up:
		return t.border.BottomRight
	case up | down | right:
		return t.border.MiddleLeft
	case up | down | left:
		return t.border.MiddleRight
	case right | left | down:
		return t.border.MiddleTop
	case right | left | up:
		return t.border.MiddleBottom
	}
	return t.border.Middle
}
