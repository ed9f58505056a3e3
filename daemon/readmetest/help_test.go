package readmetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
)

// helpPart is a part of a program's help that a page contains between the comments
// <!-- help NAME --> and <!-- end of help NAME -->.
type helpPart struct {
	args    []string // the program and its arguments
	section string   // the heading of the part; empty: all of the help
	columns string   // the header of a table of two columns; empty: the text as it is
}

var helpParts = map[string]helpPart{
	"whd":               {[]string{"whd", "help"}, "Commands:", "| Command of `whd` | Effect |"},
	"whd exit-codes":    {[]string{"whd", "help"}, "Exit codes:", "| Code | Meaning |"},
	"whctl commands":    {[]string{"whctl", "help"}, "Commands:", "| Command | Effect |"},
	"whctl flags":       {[]string{"whctl", "help"}, "Global flags:", "| Flag | Effect |"},
	"whctl filters":     {args: []string{"whctl", "help", "filters"}},
	"whctl auth":        {args: []string{"whctl", "help", "auth"}},
	"whctl powershell":  {args: []string{"whctl", "help", "powershell"}},
	"whctl formats":     {[]string{"whctl", "help", "formats"}, "", "| Format | Use |"},
	"whctl exit-codes":  {[]string{"whctl", "help", "exit-codes"}, "", "| Code | Meaning |"},
	"whctl environment": {[]string{"whctl", "help", "environment"}, "", "| Variable | Meaning |"},
}

// twoCells matches a line of a list in the help.
var twoCells = regexp.MustCompile(`^  (\S.*?)  +(\S.*)$`)

// markdown returns the part of a help in the format of the pages.
func (p helpPart) markdown(help string) (string, error) {
	if p.columns == "" {
		return "```text\n" + strings.TrimSpace(help) + "\n```\n", nil
	}
	if p.section != "" {
		_, after, found := strings.Cut(help, "\n"+p.section+"\n")
		if !found {
			return "", fmt.Errorf("%v prints no %q", p.args, p.section)
		}
		help, _, _ = strings.Cut(after, "\n\n")
	}
	escape := strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`)
	table := p.columns + "\n|---|---|\n"
	rows := 0
	for line := range strings.Lines(help) {
		if m := twoCells.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			table += fmt.Sprintf("| `%s` | %s |\n", strings.ReplaceAll(m[1], "|", `\|`), escape.Replace(m[2]))
			rows++
		}
	}
	if rows == 0 {
		return "", fmt.Errorf("%v prints no list", p.args)
	}
	return table, nil
}

// helpOf returns the output of whd or whctl. whd runs in this process, which contains it, since
// linking it would take most of the time of the test.
func helpOf(args []string, whctl string, env []string) (string, error) {
	if args[0] == "whctl" {
		run := exec.Command(whctl, args[1:]...)
		run.Env = env
		out, err := run.Output()
		return string(out), err
	}
	var stdout, stderr strings.Builder
	status := whd.Main(whd.Process{Args: args[1:], Env: env, Stdout: &stdout, Stderr: &stderr})
	if status != 0 {
		return "", fmt.Errorf("exit status %d: %s", status, &stderr)
	}
	return stdout.String(), nil
}

// TestHelpInPages compares the parts of the programs' help in the pages with the programs'
// output; -update writes them.
func TestHelpInPages(t *testing.T) {
	bin := t.TempDir()
	whctl, err := daemontest.BuildWhctl(bin)
	if err != nil {
		t.Fatal(err)
	}

	env := []string{
		"HOME=" + bin,
		"PATH=" + os.Getenv("PATH"),
		"SystemRoot=" + os.Getenv("SystemRoot"),
		"LC_ALL=C.UTF-8",
	}
	used := make(map[string]bool)
	for _, p := range manual(t) {
		text := p.text
		for name, part := range helpParts {
			begin, end := "<!-- help "+name+" -->\n", "<!-- end of help "+name+" -->\n"
			head, after, found := strings.Cut(text, begin)
			_, tail, closed := strings.Cut(after, end)
			if !found || !closed {
				continue
			}
			used[name] = true
			help, err := helpOf(part.args, whctl, env)
			if err != nil {
				t.Fatalf("%v: %v", part.args, err)
			}
			shown, err := part.markdown(help)
			if err != nil {
				t.Fatal(err)
			}
			text = head + begin + "\n" + shown + "\n" + end + tail
		}
		switch {
		case text == p.text:
		case goldentest.Updating():
			if err := os.WriteFile(filepath.Join(root, p.path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("the help in %s is stale: run make golden", p.path)
		}
	}

	for name := range helpParts {
		if !used[name] {
			t.Errorf("no page contains the help of %s", name)
		}
	}
}
