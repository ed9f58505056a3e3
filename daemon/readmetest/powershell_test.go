package readmetest

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// Commands in blocks of PowerShell, such as & 'C:\Program Files\whd\whd.exe' service start, or
// $env:NAME = bin/whctl ...
var (
	programLine = regexp.MustCompile(`^(?:\$\S+ = )?(?:& '[^']*\\|\.\\|bin/)?(whd|whctl)(?:\.exe'?)? (.*)$`)
	commandWord = regexp.MustCompile(`^[a-z][a-z-]*$`)
	longFlag    = regexp.MustCompile(`(?:^| )(--[a-z-]+)`)
	property    = regexp.MustCompile(`\b([A-Z]+)=`)
)

// TestPowerShellCommands checks the commands in blocks of PowerShell, which is not run: that
// programs have the commands and flags, and the installer the properties.
func TestPowerShellCommands(t *testing.T) {
	bin := t.TempDir()
	whctl, err := daemontest.BuildWhctl(bin)
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + bin, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot")}
	installer, err := os.ReadFile(filepath.Join(root, "cmd/daemon/deploy/package/whd.msi.sql"))
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, p := range append(manual(t), readPage(t, readme)) {
		for _, b := range blocksOf(t, p) {
			if b.language != "powershell" {
				continue
			}
			for _, line := range b.lines {
				if strings.Contains(line, "msiexec ") {
					for _, m := range property.FindAllStringSubmatch(line, -1) {
						if !strings.Contains(string(installer), m[1]+";") {
							t.Errorf("%s:%d: the installer has no property %s", p.path, b.line, m[1])
						}
					}
				}
				m := programLine.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				commands++
				if problem := commandProblem(m[1], m[2], whctl, env); problem != "" {
					t.Errorf("%s:%d: %s: %s", p.path, b.line, line, problem)
				}
			}
		}
	}
	if commands == 0 {
		t.Error("there are no commands in blocks of PowerShell")
	}
}

// TestReadmeStartsDemoOnWindows checks that the command for PowerShell does the same as make run.
func TestReadmeStartsDemoOnWindows(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\texec bin/whd\$\(EXE\) (serve --demo .*) \$\(ARGS\)$`).FindSubmatch(makefile)
	if m == nil {
		t.Fatal("the Makefile does not run whd serve --demo")
	}
	if want := "\nbin/whd " + string(m[1]) + "\n"; !strings.Contains(readPage(t, readme).text, want) {
		t.Errorf("%s does not contain the line%s", readme, want)
	}
}

// commandProblem returns the problem with a command line, or "".
func commandProblem(program, line, whctl string, env []string) string {
	words := strings.Fields(line)
	end := slices.IndexFunc(words, func(word string) bool { return !commandWord.MatchString(word) })
	if end < 0 {
		end = len(words)
	}
	help, err := helpOf(append([]string{program, "help"}, words[:end]...), whctl, env)
	if err != nil {
		return err.Error()
	}
	global, err := helpOf([]string{program, "help"}, whctl, env)
	if err != nil {
		return err.Error()
	}
	for _, m := range longFlag.FindAllStringSubmatch(line, -1) {
		pattern := regexp.MustCompile(`(?m)[ ,]` + m[1] + `\b`)
		if !pattern.MatchString(help) && !pattern.MatchString(global) {
			return "there is no flag " + m[1]
		}
	}
	return ""
}

// TestCommandProblem checks that mistakes are found.
func TestCommandProblem(t *testing.T) {
	for line, want := range map[string]string{
		"service install --firewall": "",
		"service instal":             "instal",
		"service install --wall":     "there is no flag --wall",
	} {
		got := commandProblem("whd", line, "", nil)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("whd %s: %q, want %q", line, got, want)
		}
	}
}

// TestSamplesOfIIS checks that the blocks of IIS are well-formed.
func TestSamplesOfIIS(t *testing.T) {
	for _, p := range manual(t) {
		for _, b := range blocksOf(t, p) {
			if b.language != "xml" {
				continue
			}
			d := xml.NewDecoder(strings.NewReader(strings.Join(b.lines, "\n")))
			for {
				_, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Errorf("%s:%d: %v", p.path, b.line, err)
					break
				}
			}
		}
	}
}
