package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// testedElsewhere has the commands that no script runs, with the location of their tests.
var testedElsewhere = map[string]string{"tui": "package tui"}

// scriptCoverage has the commands, exit codes and formats that scripts use.
type scriptCoverage struct {
	commands map[string]bool
	codes    map[int]bool
	formats  map[string]bool
}

// TestScriptsCoverCommandsExitCodesAndFormats checks that the scripts run every command, and use
// every exit code and every format.
func TestScriptsCoverCommandsExitCodesAndFormats(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got the scripts %q, error %v", files, err)
	}
	seen := scriptCoverage{
		commands: make(map[string]bool),
		codes:    make(map[int]bool),
		formats:  make(map[string]bool),
	}
	app := testApp()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			seen.add(app, line)
		}
	}

	for _, command := range leaves(app.Commands) {
		name := command.String()
		if _, isElsewhere := testedElsewhere[name]; seen.commands[name] == isElsewhere {
			t.Errorf("%s: in a script: %t, tested elsewhere: %t; want one of them",
				name, seen.commands[name], isElsewhere)
		}
	}
	for _, e := range exits {
		if !seen.codes[e.Code] {
			t.Errorf("no script has the exit code %d", e.Code)
		}
	}
	for _, name := range output.FormatNames() {
		if !seen.formats[name] {
			t.Errorf("no script uses the format %s", name)
		}
	}
}

// add adds a line of a script.
func (s scriptCoverage) add(app *cli.App, line string) {
	if code, ok := exitCodeOf(line); ok {
		s.codes[code] = true
	}
	before, args, hasCommand := strings.Cut(line, "whctl ")
	isCheck := strings.HasPrefix(line, "std") || strings.HasPrefix(line, "#")
	if !hasCommand || before == "" || isCheck { // a line that starts with whctl is part of a text
		return
	}
	for _, name := range formatsOf(args) {
		s.formats[name] = true
	}
	// Quotes are not parsed, and some lines are invalid on purpose.
	l, _ := cmdline.ReorderArgs(app, strings.Fields(args))
	s.commands[strings.Join(l.Path, " ")] = true
}

var (
	exitCodeLine = regexp.MustCompile(`^(?:exits (\d+) whctl|(?:finish|interrupt) \w+ (\d+)$)`)
	formatFlag   = regexp.MustCompile(`--format[ =](\w+)|--(\w+)`)
)

// exitCodeOf returns the exit code that a line of a script expects.
func exitCodeOf(line string) (code int, ok bool) {
	match := exitCodeLine.FindStringSubmatch(strings.TrimSpace(line))
	if match == nil {
		return 0, false
	}
	code, err := strconv.Atoi(match[1] + match[2])
	return code, err == nil
}

// formatsOf returns the formats that the flags of a command line select.
func formatsOf(args string) (names []string) {
	for _, match := range formatFlag.FindAllStringSubmatch(args, -1) {
		if name := match[1]; name != "" {
			names = append(names, name)
		} else if slices.Contains(output.Shorthands, match[2]) {
			names = append(names, match[2])
		}
	}
	return names
}
