package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// creators lists the files and directories of the daemon that create files without package
// datadir, none of them in the data directory.
var creators = map[string]string{
	"daemon/bench/":                "benchmarks",
	"daemon/daemontest/":           "tests",
	"daemon/storage/storagetest/":  "tests",
	"daemon/datadir/":              "sets the owner of all that it creates",
	"daemon/service/":              "settings of the installed service",
	"daemon/backup/write.go":       "backups are in another directory, and belong to their user",
	"daemon/spill/file_windows.go": "files of Windows inherit the permissions of their directory",
}

// creation matches the functions that create files and directories.
var creation = regexp.MustCompile(
	`\bos\.(Create|CreateTemp|Link|Mkdir|MkdirAll|MkdirTemp|OpenFile|Symlink|WriteFile)\b`)

// TestFilesOfDataDirectory checks that package datadir creates all files in the data directory:
// others would belong to root after a command run by root, and the daemon could not use them.
func TestFilesOfDataDirectory(t *testing.T) {
	unused := make(map[string]bool)
	for name := range creators {
		unused[name] = true
	}
	for _, file := range proseFiles(t, nil) {
		isOfDaemon := strings.HasPrefix(file, "daemon/") || strings.HasPrefix(file, "cmd/daemon/")
		isSource := strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
		if !isOfDaemon || !isSource || strings.Contains(file, "/testdata/") {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		calls := creation.FindAllString(string(source), -1)
		if calls == nil {
			continue
		}
		if name := creatorOf(file); name != "" {
			delete(unused, name)
			continue
		}
		t.Errorf("%s uses %s: create files with package datadir, or add the file to creators with the reason",
			file, strings.Join(calls, ", "))
	}
	for name := range unused {
		t.Errorf("%s in creators creates no files; remove it", name)
	}
}

// creatorOf returns the line of creators that has a file; empty if there is none.
func creatorOf(file string) string {
	for name := range creators {
		if strings.HasPrefix(file, name) {
			return name
		}
	}
	return ""
}
