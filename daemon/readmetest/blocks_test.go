package readmetest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// block is what stands between two fences of the README.
type block struct {
	line     int // of its first line, from 1
	language string
	lines    []string
}

// blocks reads the fenced blocks of a text.
func blocks(text string) (all []block, err error) {
	var open *block
	for i, line := range strings.Split(text, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{line: i + 2, language: language}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		case strings.HasPrefix(line, "    "):
			return nil, fmt.Errorf("line %d is indented: commands stand between fences, where they are tried", i+1)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("the block at line %d has no end", open.line)
	}
	return all, nil
}

// exempt are commands that are not run here, with the reason. Each is the
// beginning of a line.
var exempt = []struct{ command, why string }{
	{"make test", "it is what runs this test"},
	{"make dist", "builds for a minute what the tests of .ci/tools look into"},
	{"sudo ", "changes the machine: the packages were installed, upgraded and removed by hand"},
	{"systemctl ", "the same"},
	{"docker ", "needs a registry of images"},
	{"sqlcmd ", "needs the administrator of a SQL Server; the tests on a server run the script"},
	{"export WHD_STORE_FILE=", "needs a SQL Server: TestSchemaOnServer, TestCheckOnServer"},
	{"whd migrate", "the same"},
	{"whd check", "the same"},
	{"whd serve", "the same"},
	{"bin/whctl login ", "asks for a password at a service that is not here: the stories of cmd/whctl"},
}

// elsewhere takes the commands out that are not run here, and counts for which
// reasons.
func (b block) elsewhere(used map[string]int) string {
	var kept []string
	for _, line := range b.lines {
		if command := exemption(line); command != "" {
			used[command]++
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

func exemption(line string) string {
	for _, e := range exempt {
		if strings.HasPrefix(line, e.command) {
			return e.command
		}
	}
	return ""
}

// spoken are the languages of blocks that other tests read.
var spoken = map[string]string{
	"go": "TestReadmeVerifies", "csharp": "TestReadmeVerifies", "php": "TestReadmeVerifies", "javascript": "TestReadmeVerifies", "python": "TestReadmeVerifies",
	"sql": "TestEventsFromTSQL", "powershell": "not run: it needs Windows", "toml": "TestReadmeSettings",
}

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := blocks(string(text))
	if err != nil {
		t.Fatal("README.md: ", err)
	}
	for _, b := range all {
		if b.language != "sh" && spoken[b.language] == "" {
			t.Errorf("README.md:%d: nobody tries blocks of %q", b.line, b.language)
		}
	}
	return all
}
