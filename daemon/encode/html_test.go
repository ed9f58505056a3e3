package encode

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// htmlText is the text of a page, whose elements must be balanced.
func htmlText(t *testing.T, page []byte) string {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(page)))
	decoder.Strict = false
	decoder.AutoClose = []string{"meta"}
	return characters(t, decoder)
}

func TestHTMLCount(t *testing.T) {
	two := [][]row.Cell{{number(1)}, {number(2)}}
	tests := []struct {
		rows  [][]row.Cell
		total int64
		want  string
	}{
		{nil, 0, "No records."},
		{nil, 7, "No records of 7."},
		{two, 0, "Records 21 to 22."},
		{two, 90, "Records 21 to 22 of 90."},
	}
	for _, test := range tests {
		page := result(format(t, "html"), Shape{Columns: []Column{{"N", record.Int}}}, test.rows, Tail{Total: test.total})
		if !strings.Contains(htmlText(t, page), "\n"+test.want+"\n") {
			t.Errorf("%d rows, %d in all: %q is not in %s", len(test.rows), test.total, test.want, page)
		}
	}
}

// TestHTMLIsSafe puts an attack into every place that text can reach.
func TestHTMLIsSafe(t *testing.T) {
	const attack = `"><script>alert(1)</script><p id="`
	html := format(t, "html")
	shape := Shape{Operation: attack, Record: attack, Columns: []Column{{attack, record.Text}}, Links: []Link{{attack, attack}}}
	status := failureStatus()
	status.ErrorCode, status.Message, status.StackTrace = attack, attack, attack
	status.Errors[0].FieldName, status.Errors[0].Message = attack, attack
	status.Meta[attack] = attack
	document, err := html.Document(nil, attack, map[string]string{attack: attack})
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string][]byte{
		"rows":     result(html, shape, [][]row.Cell{{text(attack)}}, Tail{Meta: []Pair{{attack, attack}}}),
		"failure":  html.Failure(nil, status, nil),
		"document": document,
	}
	for name, page := range pages {
		if strings.Contains(string(page), "<script") || strings.Contains(string(page), `"">`) {
			t.Errorf("%s: %s", name, page)
		}
		if !strings.Contains(htmlText(t, page), attack) {
			t.Errorf("%s: the text is not shown: %s", name, page)
		}
	}
}

func TestStylePolicy(t *testing.T) {
	_, rest, _ := strings.Cut(string(result(format(t, "html"), Shape{}, nil, Tail{})), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	if style != pageStyle {
		t.Errorf("the page has another style than the policy allows: %s", style)
	}
	if policy := StylePolicy(); !strings.HasPrefix(policy, "'sha256-") || !strings.HasSuffix(policy, "='") {
		t.Errorf("policy %s", policy)
	}
}
