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
	tests := testSources(t, "")
	for pattern := range strings.SplitSeq(string(patterns[1]), "|") {
		if !regexp.MustCompile(`(?m)^func Test\w*` + pattern).MatchString(tests) {
			t.Errorf("no test matches %s", pattern)
		}
	}
}

// TestRootTestsExist checks that each line of .ci/roottests names a test in that package.
func TestRootTestsExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".ci", "roottests"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		path, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || !strings.Contains(testSources(t, strings.TrimPrefix(path, "./")), "\nfunc "+name+"(") {
			t.Errorf("%q names no test", line)
		}
	}
}

// testSources returns the text of all tests below a directory.
func testSources(t *testing.T, dir string) string {
	t.Helper()
	var tests strings.Builder
	for _, file := range proseFiles(t, nil) {
		if strings.HasPrefix(filepath.ToSlash(file), dir) && strings.HasSuffix(file, "_test.go") {
			source, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(source)
		}
	}
	return tests.String()
}
