package encode

import (
	"io/fs"
	"strings"
	"testing"
)

// TestLineEndsOfPages checks that the pages do not depend on the line ends of the files that they are
// built from: Git for Windows changes those that .gitattributes does not list.
func TestLineEndsOfPages(t *testing.T) {
	const lf = "a {\n}\nb {\n}\n"
	crlf := strings.ReplaceAll(lf, "\n", "\r\n")
	if got, want := policyOf(crlf), policyOf(lf); got != want {
		t.Errorf("the policy of a style with CRLF is %s, want that of the style with LF, %s", got, want)
	}

	if strings.Contains(style, "\r") {
		t.Error("style.css has CRLF")
	}
	err := fs.WalkDir(templates, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := templates.ReadFile(path)
		if strings.Contains(string(text), "\r") {
			t.Errorf("%s has CRLF", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
