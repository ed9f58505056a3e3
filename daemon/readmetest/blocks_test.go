package readmetest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// block is a fenced block of a page.
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
			return nil, fmt.Errorf("line %d is indented: put commands between fences, so that they are run", i+1)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("the block at line %d has no end", open.line)
	}
	return all, nil
}

// exempt lists the beginnings of lines that are not run, with the reason.
var exempt = []struct{ command, why string }{
	{command: "make dist", why: "builds for a minute; the tests of .ci/tools check the result"},
	{command: "make bench", why: "measures for minutes; the tests compile the benchmarks"},
	{
		command: "sudo ",
		why:     "changes the machine: .ci/trypackage runs the lines of the README, and installs, upgrades and removes the package",
	},
	{command: "systemctl ", why: "the same"},
	{command: "whd version", why: "the version that was installed with sudo"},
	{command: "docker ", why: "needs a registry of images"},
	{command: "WHD_PASSWORD=", why: "the password of the login that sqlcmd creates"},
	{
		command: "sqlcmd ",
		why:     "needs the administrator of a SQL Server; the tests on a server run the script",
	},
	{command: "export WHD_ERP_FILE=", why: "needs a SQL Server: TestSelectOnly, TestCheckWithMinimalRights"},
	{command: "whd migrate", why: "the same"},
	{command: "whd check", why: "the same"},
	{command: "whd serve", why: "the same"},
	{command: "whd import ", why: "needs the tables of the existing service: TestImport of daemon/importer"},
	{command: "whd compat ", why: "needs logs of the existing service: TestCompat of cmd/daemon/whd"},
	{command: "curl -c dotnet.txt ", why: "needs the existing service"},
	{command: "curl -b dotnet.txt ", why: "the same"},
	{
		command: "bin/whctl login ",
		why:     "prompts for a password at a service that does not exist: the stories of cmd/whctl",
	},
	{command: "bin/whctl tui", why: "needs a terminal: the tests of cmd/whctl on one"},
}

// runnable returns the commands of a block that are run here, and counts the
// exemptions that it uses.
func (b block) runnable(used map[string]int) string {
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

// otherTests maps each language other than sh to the test of its blocks.
var otherTests = map[string]string{
	"go":         "TestDocumentedReceiversVerifySignatures, TestGoProgramCompiles",
	"csharp":     "TestDocumentedReceiversVerifySignatures, TestTutorialInCSharp",
	"php":        "TestDocumentedReceiversVerifySignatures",
	"javascript": "TestDocumentedReceiversVerifySignatures",
	"python":     "TestDocumentedReceiversVerifySignatures, TestTutorialInPython",
	"sql":        "TestOutboxEvents",
	"powershell": "TestPowerShellCommands: not run, since it needs Windows",
	"nginx":      "TestExistingServiceBehindNginx, for the proxy of two services",
	"xml":        "TestSamplesOfIIS: not run, since it needs IIS",
	"toml":       "TestDocsSettings",
	"json":       "TestCapturedEventsAreDelivered, TestClientOfTheLibrary",
	"text":       "TestManual: the output of the block of commands before it",
}

// blocksOf returns the blocks of a page.
func blocksOf(t *testing.T, p page) []block {
	t.Helper()
	all, err := blocks(generated.ReplaceAllStringFunc(p.text, blankLines))
	if err != nil {
		t.Fatalf("%s: %v", p.path, err)
	}
	for _, b := range all {
		if b.language != "sh" && otherTests[b.language] == "" {
			t.Errorf("%s:%d: no test for blocks of %q", p.path, b.line, b.language)
		}
	}
	return all
}

// generated matches a part of a page that is generated from a program's help.
var generated = regexp.MustCompile(`(?s)<!-- help .*?<!-- end of help `)

func blankLines(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }

// missingLine compares the output of commands with the lines that a page shows: each
// must occur at the end of a line, in this order, where … is any text; curl ends no line
// after a reply. It returns the first that does not.
func missingLine(output string, lines []string) string {
	unread := strings.Split(output, "\n")
	for _, want := range lines {
		parts := strings.Split(want, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern := regexp.MustCompile(strings.Join(parts, ".*") + "$")
		found := false
		for !found && len(unread) > 0 {
			found = pattern.MatchString(strings.TrimRight(unread[0], "\r "))
			unread = unread[1:]
		}
		if !found {
			return want
		}
	}
	return ""
}

func TestMissingLine(t *testing.T) {
	const output = "one\ntwo of 3\n{\"RecID\":7}\n"
	for _, c := range []struct{ lines, missing string }{
		{"one", ""},
		{"one\ntwo of …", ""},
		{"two of …\none", "one"},
		{"tw", "tw"},
		{`{"RecID":…}`, ""},
		{"one\none", "one"},
	} {
		if got := missingLine(output, strings.Split(c.lines, "\n")); got != c.missing {
			t.Errorf("%q: missing %q, want %q", c.lines, got, c.missing)
		}
	}
}
