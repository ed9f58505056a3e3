package edge

import (
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/daemon/docs"
)

// TestErrorsHaveNoToken checks that an error in place of changes does not have the token after
// them: a client that stores it would not get the changes.
func TestErrorsHaveNoToken(t *testing.T) {
	h := make(http.Header)
	for _, name := range []string{wire.HeaderNextToken, wire.HeaderRowCount, "Content-Length"} {
		h.Set(name, "1")
	}
	ClearResponse(h)
	if len(h) > 0 {
		t.Errorf("headers of an error that replaced changes: %v, want none", h)
	}
}

// TestManualDescribesErrors checks that the page about errors has a section for each code, with all
// of its statuses and a remedy, and no others.
func TestManualDescribesErrors(t *testing.T) {
	text, err := fs.ReadFile(docs.Files, "errors.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := make(map[string]string)
	for _, part := range strings.Split(string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		sections[title] = body
	}
	codes := make(map[string]bool)
	for kind, f := range failures {
		codes[f.code] = true
		body, ok := sections[f.code]
		if !ok {
			t.Errorf("errors.md has no section ## %s", f.code)
			continue
		}
		firstParagraph, _, _ := strings.Cut(body[1:], "\n\n")
		if !strings.Contains(strings.ToLower(firstParagraph), "status "+strconv.Itoa(f.status)) {
			t.Errorf("errors.md: %s lacks status %d of kind %d in its first paragraph", f.code, f.status, kind)
		}
	}
	for title := range sections {
		isCode := !strings.Contains(title, " ") && title != "Troubleshooting"
		if isCode && !codes[title] {
			t.Errorf("errors.md describes %s, which no error has", title)
		}
	}
}
