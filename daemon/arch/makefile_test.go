package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestClientTestsExist checks that each pattern of CLIENTTESTS in the Makefile matches a
// test. A test that was renamed would no longer run there.
func TestClientTestsExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	patterns := regexp.MustCompile(`(?m)^CLIENTTESTS\s*:=\s*(\S+)$`).FindSubmatch(text)
	if patterns == nil {
		t.Fatal("the Makefile does not set CLIENTTESTS")
	}
	var tests strings.Builder
	for _, file := range proseFiles(t, nil) {
		if strings.HasSuffix(file, "_test.go") {
			source, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(source)
		}
	}
	for pattern := range strings.SplitSeq(string(patterns[1]), "|") {
		if !regexp.MustCompile(`(?m)^func Test\w*` + pattern).MatchString(tests.String()) {
			t.Errorf("no test matches %s", pattern)
		}
	}
}
