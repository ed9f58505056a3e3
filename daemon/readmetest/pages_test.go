package readmetest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the directory of the repository.
const root = "../.."

// Pages outside of the directories of the manual.
const (
	readme       = "README.md"
	changelog    = "CHANGELOG.md"
	contributing = ".github/CONTRIBUTING.md"
)

// page is a Markdown file, with its path relative to root.
type page struct {
	path string
	text string
}

// manual returns the pages of the manual: those of the daemon in the order in which the
// README lists them, then those of whctl.
func manual(t *testing.T) []page {
	t.Helper()
	var pages []page
	for _, m := range regexp.MustCompile(`\]\((cmd/\w+/docs/[\w-]+\.md)\)`).FindAllStringSubmatch(readPage(t, readme).text, -1) {
		if !slices.ContainsFunc(pages, func(p page) bool { return p.path == m[1] }) {
			pages = append(pages, readPage(t, m[1]))
		}
	}
	return pages
}

func readPage(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return page{name, string(text)}
}

// TestEveryPageIsListed compares the files of the manual with the README's table.
func TestEveryPageIsListed(t *testing.T) {
	var listed, files []string
	for _, p := range manual(t) {
		listed = append(listed, p.path)
	}
	for _, program := range []string{"daemon", "whctl"} {
		found, err := filepath.Glob(filepath.Join(root, "cmd", program, "docs", "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			files = append(files, path.Join("cmd", program, "docs", filepath.Base(f)))
		}
	}
	slices.Sort(listed)
	slices.Sort(files)
	if !slices.Equal(listed, files) {
		t.Errorf("README.md lists %v\nthe manual has %v", listed, files)
	}
}

// Parts of Markdown with links and headings.
var (
	fencedBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	link        = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading     = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the anchors that GitHub generates for the headings of a text.
func anchors(text string) map[string]bool {
	found := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(fencedBlock.ReplaceAllString(text, ""), -1) {
		title := notInAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		found[strings.ReplaceAll(title, " ", "-")] = true
	}
	return found
}

// TestLinks checks that the target of each relative link of the documentation exists.
func TestLinks(t *testing.T) {
	pages := append(manual(t), readPage(t, readme), readPage(t, changelog), readPage(t, contributing))
	for _, p := range pages {
		for _, m := range link.FindAllStringSubmatch(fencedBlock.ReplaceAllString(p.text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			name := p.path
			if target != "" {
				name = path.Join(path.Dir(p.path), target)
			}
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s: link to %s: no such file", p.path, m[1])
				continue
			}
			if anchor != "" && !anchors(readPage(t, name).text)[anchor] {
				t.Errorf("%s: link to %s: no such heading", p.path, m[1])
			}
		}
	}
}

// TestAnchors checks the rules of GitHub for anchors.
func TestAnchors(t *testing.T) {
	found := anchors("# One, two: `three`\n```sh\n# no heading\n```\n## exit-codes and C#\n")
	for _, want := range []string{"one-two-three", "exit-codes-and-c"} {
		if !found[want] {
			t.Errorf("no anchor %q in %v", want, found)
		}
	}
	if len(found) != 2 {
		t.Errorf("got %v, want two anchors", found)
	}
}
