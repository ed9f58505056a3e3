package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/wire"
)

// piecewise reads a text in pieces, then returns an error.
type piecewise struct {
	text []byte
	size func() int
	err  error
}

func (p *piecewise) Read(into []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, p.err
	}
	n := copy(into, p.text[:min(len(p.text), p.size())])
	p.text = p.text[n:]
	return n, nil
}

// textOf reads the text of a reply with a number of rows.
func textOf(body io.Reader, csv bool, count int) (text string, rows int64, err error) {
	request, err := http.NewRequest(http.MethodGet, "http://localhost", nil)
	if err != nil {
		return "", 0, err
	}
	reply := &http.Response{
		Request: request,
		Body:    io.NopCloser(body),
		Trailer: http.Header{wire.HeaderRowCount: {fmt.Sprint(count)}},
	}
	r := newRows(reply, body, csv)
	for lines, err := range r.Text() {
		if err != nil {
			return text, r.Count(), err
		}
		text += string(lines)
	}
	return text, r.Count(), nil
}

// drawCSV returns rows of CSV as the service sends them, and as Text yields them.
func drawCSV(t *rapid.T, rows int) (sent string, lines []string) {
	cell := rapid.StringMatching(`[a,"\r\n]{0,5}`)
	for range rows {
		line := ""
		for range rapid.IntRange(1, 3).Draw(t, "columns") {
			text := cell.Draw(t, "cell")
			if strings.ContainsAny(text, ",\"\r\n") {
				text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			}
			line += text + ","
		}
		sent += line + "\r\n"
		lines = append(lines, line+"\n")
	}
	return sent, lines
}

// CSV keeps its cells and gets other line ends, in pieces of any size.
func TestTextOfCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 20).Draw(t, "rows")
		sent, lines := drawCSV(t, rows)
		body := &piecewise{
			text: []byte(sent),
			size: func() int { return rapid.IntRange(1, 40).Draw(t, "piece") },
			err:  io.EOF,
		}
		got, count, err := textOf(body, true, rows)
		if err != nil {
			t.Fatalf("reading %q: %v", sent, err)
		}
		if want := strings.Join(lines, ""); got != want || count != int64(rows) {
			t.Fatalf("reading %q: got %q and %d rows, want %q and %d", sent, got, count, want, rows)
		}
	})
}

// A part of a reply in CSV is an error, and only whole lines of it are returned.
func TestTextOfTruncatedCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, 20).Draw(t, "rows")
		sent, lines := drawCSV(t, rows)
		part := sent[:rapid.IntRange(0, len(sent)-1).Draw(t, "part")]
		for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
			body := io.MultiReader(strings.NewReader(part), iotest.ErrReader(end))
			got, count, err := textOf(body, true, rows)
			if !Is(err, Incomplete) {
				t.Fatalf("reading %q, a part of %q: got error %v, want incomplete", part, sent, err)
			}
			if want := strings.Join(lines[:count], ""); got != want {
				t.Fatalf("reading %q, a part of %q: got %q and %d rows, want %q", part, sent, got, count, want)
			}
		}
	})
}

func TestRowsOfCSV(t *testing.T) {
	r := newRows(&http.Response{Body: http.NoBody}, http.NoBody, true)
	n := 0
	for _, err := range r.All() {
		n++
		if want := "the rows are CSV; use Text"; err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if n != 1 {
		t.Errorf("All yields %d items, want one error", n)
	}
}

// ndjsonText is a text with ndjsonRows rows.
var ndjsonText = strings.Repeat(`{"A":"a \" , b"}`+"\n"+`{}`+"\n", 9)

const ndjsonRows = 18

func TestTextOfNDJSON(t *testing.T) {
	for name, body := range map[string]io.Reader{
		"at once":  strings.NewReader(ndjsonText),
		"bytes":    iotest.OneByteReader(strings.NewReader(ndjsonText)),
		"with end": iotest.DataErrReader(strings.NewReader(ndjsonText)),
	} {
		got, count, err := textOf(body, false, ndjsonRows)
		if got != ndjsonText || count != ndjsonRows || err != nil {
			t.Errorf("%s: got %q, %d rows, %v, want %q, %d rows", name, got, count, err, ndjsonText, ndjsonRows)
		}
	}
}

func TestTextOfIncompleteNDJSON(t *testing.T) {
	broken := errors.New("broken")
	body := io.MultiReader(strings.NewReader(ndjsonText+"{"), iotest.ErrReader(broken))
	got, count, err := textOf(body, false, ndjsonRows)
	if got != ndjsonText || count != ndjsonRows || !errors.Is(err, broken) {
		t.Errorf("a broken connection: got %q, %d rows, %v, want the whole lines and %v", got, count, err, broken)
	}

	_, count, err = textOf(strings.NewReader(ndjsonText), false, ndjsonRows+1)
	if count != ndjsonRows || !Is(err, Incomplete) {
		t.Errorf("a missing row: got %d rows, %v, want %d and an incomplete response", count, err, ndjsonRows)
	}
}

// A line can be longer than the buffer of a reply.
func TestTextOfLongLine(t *testing.T) {
	line := strings.Repeat("a", 3<<20) + "\n"
	got, _, err := textOf(strings.NewReader(line), false, 1)
	if got != line || err != nil {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(line))
	}
}
