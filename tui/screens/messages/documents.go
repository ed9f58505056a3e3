package messages

import (
	"fmt"
	"strconv"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// documents shows the sent document next to the answer to an attempt. They scroll together.
type documents struct {
	session      *ui.Session
	sent, answer ui.Pager
	height       int
	shown        shownDocuments
	top          int // first visible line
	match        int // line that the search found last; noMatch for none
	notes        [2][]theme.Span
}

// shownDocuments identifies the documents that were laid out, which is slow for large ones.
type shownDocuments struct {
	message         string
	attempt, answer int // number of the attempt, and length of its answer
	body, width     int
	loaded          bool
}

func newDocuments(h ui.HostSession) documents {
	d := documents{session: h.Session, match: noMatch}
	for _, p := range []*ui.Pager{&d.sent, &d.answer} {
		p.Owner = h
		p.HideCursor()
	}
	return d
}

// setSize sets the size of both documents with the edge between them.
func (d *documents) setSize(width, height int) {
	d.height = max(0, height)
	half := (width - 1) / 2
	d.sent.Resize(half, d.height)
	d.answer.Resize(width-1-half, d.height)
	d.scrollTo(d.top)
	if d.shown.width != width {
		d.shown = shownDocuments{width: width}
	}
}

// show lays out the document of a message and the answer to an attempt, none for a negative index.
func (d *documents) show(c *content, index int) {
	var attempt wire.Attempt
	if index >= 0 {
		attempt = c.Responses[index]
	}
	text := ui.AnswerText(attempt)
	shown := shownDocuments{
		message: c.Message.MessageID,
		attempt: attempt.ItemNo,
		answer:  len(text),
		body:    len(c.Message.Body),
		width:   d.shown.width,
		loaded:  c.loaded,
	}
	if shown == d.shown {
		return
	}
	d.shown = shown
	half := (d.shown.width - 1) / 2
	setDocument(&d.sent, c.Message.Body, half, loadingOr(c, "empty"))
	note := "the response has no text"
	if index < 0 {
		note = loadingOr(c, "no attempt yet")
	}
	setDocument(&d.answer, text, half, note)
	d.notes = [2][]theme.Span{{{Text: ui.Size(len(c.Message.Body)), Role: theme.Dim}}, answerNote(attempt)}
	d.match = noMatch
	d.scrollTo(0)
}

// loadingOr returns a note, or that the message is loading.
func loadingOr(c *content, note string) string {
	if !c.loaded {
		return "loading ..."
	}
	return note
}

// setDocument lays out a text, highlighted if it is JSON, or a note if it is empty.
func setDocument(p *ui.Pager, text string, width int, note string) {
	if text == "" {
		p.SetLines([]theme.Span{{Text: "  " + note, Role: theme.Dim}})
		return
	}
	p.SetJSON(ui.JSONLines([]byte(text), width-3))
}

// answerNote returns the status code of an attempt.
func answerNote(attempt wire.Attempt) []theme.Span {
	if attempt.ItemNo == 0 {
		return nil
	}
	status := theme.Span{Text: "no response", Role: theme.Failure}
	if attempt.HTTPCode != nil {
		status.Text = strconv.Itoa(*attempt.HTTPCode)
	}
	if attempt.Status == ui.StatusDelivered {
		status.Role = theme.Success
	}
	return []theme.Span{status}
}

// length returns the number of lines of the longer document.
func (d *documents) length() int { return max(len(d.sent.Lines), len(d.answer.Lines)) }

// scrollTo makes a line the first visible one.
func (d *documents) scrollTo(top int) {
	d.top = max(0, min(top, d.length()-d.height))
	for _, p := range []*ui.Pager{&d.sent, &d.answer} {
		first := max(0, min(d.top, len(p.Lines)-p.Rows))
		p.At = first
		p.Top = first
	}
}

// scroll handles the keys that move by pages and reports whether the action was one.
func (d *documents) scroll(action keymap.Action) bool {
	switch action {
	case keymap.PageUp:
		d.scrollTo(d.top - max(1, d.height-1))
	case keymap.PageDown:
		d.scrollTo(d.top + max(1, d.height-1))
	case keymap.HalfUp:
		d.scrollTo(d.top - d.height/2)
	case keymap.HalfDown:
		d.scrollTo(d.top + d.height/2)
	default:
		return false
	}
	return true
}

// panels returns the panels of the documents, with their upper edge in line y.
func (d *documents) panels(y int) []theme.Panel {
	half := (d.shown.width - 1) / 2
	sent := theme.Panel{
		Y:      y,
		Width:  half,
		Height: d.height,
		Title:  []theme.Span{{Text: "Sent", Role: theme.Breadcrumb}},
		Note:   d.notes[0],
		Lines:  d.sent.Draw(),
	}
	answer := theme.Panel{
		X:      half + 1,
		Y:      y,
		Width:  d.shown.width - 1 - half,
		Height: d.height,
		Title:  []theme.Span{{Text: d.answerTitle(), Role: theme.Breadcrumb}},
		Note:   d.notes[1],
		Lines:  d.answer.Draw(),
	}
	return []theme.Panel{sent, answer}
}

func (d *documents) answerTitle() string {
	if d.shown.attempt == 0 {
		return "Response"
	}
	return fmt.Sprintf("Response of attempt %d", d.shown.attempt)
}
