package client

import (
	"bytes"
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
	request, _ := http.NewRequest(http.MethodGet, "http://localhost", nil)
	reply := &http.Response{Request: request, Body: io.NopCloser(body), Trailer: http.Header{wire.HeaderRowCount: {fmt.Sprint(count)}}}
	r := newRows(reply, body, csv)
	for lines, failed := range r.Text() {
		if failed != nil {
			return text, r.Count(), failed
		}
		text += string(lines)
	}
	return text, r.Count(), nil
}

// CSV keeps its cells and gets other line ends, in pieces of any size. A part of it
// is an error, and only whole lines of it are returned.
func TestTextOfCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent, want strings.Builder
		cell := rapid.StringMatching(`[a,"\r\n]{0,5}`)
		rows := rapid.IntRange(0, 20).Draw(t, "rows")
		ends := map[string]bool{"": true}
		for range rows {
			line := ""
			for range rapid.IntRange(1, 3).Draw(t, "columns") {
				if text := cell.Draw(t, "cell"); strings.ContainsAny(text, ",\"\r\n") {
					line += `"` + strings.ReplaceAll(text, `"`, `""`) + `",`
				} else {
					line += text + ","
				}
			}
			sent.WriteString(line + "\r\n")
			want.WriteString(line + "\n")
			ends[want.String()] = true
		}
		body := &piecewise{text: []byte(sent.String()), size: func() int { return rapid.IntRange(1, 40).Draw(t, "piece") }, err: io.EOF}
		if got, count, err := textOf(body, true, rows); got != want.String() || count != int64(rows) || err != nil {
			t.Fatalf("%q: got %q, %d rows of %d, %v", &sent, got, count, rows, err)
		}
		if sent.Len() == 0 {
			return
		}
		part := sent.String()[:rapid.IntRange(0, sent.Len()-1).Draw(t, "part")]
		for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
			got, _, err := textOf(io.MultiReader(strings.NewReader(part), iotest.ErrReader(end)), true, rows)
			if !ends[got] || !strings.HasPrefix(want.String(), got) || !Is(err, Incomplete) {
				t.Fatalf("%q: got %q, %v", part, got, err)
			}
		}
	})
}

func TestRowsOfCSV(t *testing.T) {
	r := newRows(&http.Response{Body: http.NoBody}, http.NoBody, true)
	for _, err := range r.All() {
		if err == nil || err.Error() != "the rows are CSV; use Text" {
			t.Error(err)
		}
	}
}

func TestTextOfNDJSON(t *testing.T) {
	sent := strings.Repeat(`{"A":"a \" , b"}`+"\n"+`{}`+"\n", 9)
	for name, body := range map[string]io.Reader{"at once": strings.NewReader(sent), "bytes": iotest.OneByteReader(strings.NewReader(sent)), "with end": iotest.DataErrReader(strings.NewReader(sent))} {
		if got, count, err := textOf(body, false, 18); got != sent || count != 18 || err != nil {
			t.Errorf("%s: %q, %d rows, %v", name, got, count, err)
		}
	}
	broken := errors.New("broken")
	if got, count, err := textOf(io.MultiReader(strings.NewReader(sent+"{"), iotest.ErrReader(broken)), false, 18); got != sent || count != 18 || !errors.Is(err, broken) {
		t.Errorf("%q, %d rows, %v", got, count, err)
	}
	if _, count, err := textOf(strings.NewReader(sent), false, 19); count != 18 || !Is(err, Incomplete) {
		t.Errorf("%d rows, %v", count, err)
	}
	long := bytes.Repeat([]byte{'a'}, 3<<20)
	if got, _, err := textOf(bytes.NewReader(append(long, '\n')), false, 1); len(got) != len(long)+1 || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
