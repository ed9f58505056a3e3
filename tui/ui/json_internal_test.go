package ui

import (
	"strings"
	"testing"
)

// TestMarkupBreaksBeforeTags checks that no tag is cut, and that nothing is lost.
func TestMarkupBreaksBeforeTags(t *testing.T) {
	const page = "<html><head><title>500 Internal Server Error</title></head>" +
		"<body><h1>Internal Server Error</h1></body></html>"
	var lines []string
	for _, line := range JSONLines([]byte(page), 56) {
		lines = append(lines, line.Text)
		if strings.Count(line.Text, "<") != strings.Count(line.Text, ">") {
			t.Errorf("a tag is cut in %q", line.Text)
		}
	}
	if got := strings.Join(lines, ""); got != page || len(lines) < 2 {
		t.Errorf("the lines are %q, want those of %q", lines, page)
	}
}
