package readmetest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
)

// symptomsPage is the index of the symptoms on all pages, between two comments.
const (
	symptomsPage  = "cmd/daemon/docs/symptoms.md"
	symptomsBegin = "<!-- symptoms -->\n"
	symptomsEnd   = "<!-- end of symptoms -->\n"
)

var (
	troubleshooting = regexp.MustCompile(`(?ms)^## Troubleshooting\n(.*?)(?:^## |\z)`)
	symptomRow      = regexp.MustCompile(`(?m)^\| (.+?) \| .+\|$`)
	linkText        = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
)

// symptomsOf returns the first cells of the table of troubleshooting of a page, without links.
func symptomsOf(p page) []string {
	part := troubleshooting.FindStringSubmatch(p.text)
	if part == nil {
		return nil
	}
	_, rows, _ := strings.Cut(part[1], "|---|---|\n")
	var symptoms []string
	for _, row := range symptomRow.FindAllStringSubmatch(rows, -1) {
		symptoms = append(symptoms, linkText.ReplaceAllString(row[1], "$1"))
	}
	return symptoms
}

// TestSymptoms compares the index of symptoms with the pages; -update writes it.
func TestSymptoms(t *testing.T) {
	var table strings.Builder
	for _, p := range manual(t) {
		symptoms := symptomsOf(p)
		if len(symptoms) == 0 {
			continue
		}
		title := strings.TrimPrefix(strings.SplitN(p.text, "\n", 2)[0], "# ")
		target, err := filepath.Rel(path.Dir(symptomsPage), p.path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&table, "## %s\n\n| Symptom | Page |\n|---|---|\n", title)
		for _, symptom := range symptoms {
			fmt.Fprintf(&table, "| %s | [%s](%s#troubleshooting) |\n", symptom, title, filepath.ToSlash(target))
		}
		table.WriteString("\n")
	}

	text := readPage(t, symptomsPage).text
	head, after, hasBegin := strings.Cut(text, symptomsBegin)
	_, tail, hasEnd := strings.Cut(after, symptomsEnd)
	if !hasBegin || !hasEnd {
		t.Fatalf("%s lacks the comments around the index", symptomsPage)
	}
	want := head + symptomsBegin + "\n" + table.String() + symptomsEnd + tail
	if text == want {
		return
	}
	if !goldentest.Updating() {
		t.Fatalf("%s is stale: run make golden", symptomsPage)
	}
	if err := os.WriteFile(filepath.Join(root, symptomsPage), []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
