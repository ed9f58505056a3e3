package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// testedElsewhere has the commands that no script runs, with the location of their tests.
var testedElsewhere = map[string]string{"tui": "package tui"}

// The scripts run every command, and use every exit code and every format.
func TestScriptsCoverCommandsExitCodesAndFormats(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	commands := make(map[string]bool)
	codes := make(map[int]bool)
	formats := make(map[string]bool)
	app := testApp()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if code, ok := exitCodeOf(line); ok {
				codes[code] = true
			}
			_, args, runs := strings.Cut(line, "whctl ")
			if !runs || strings.HasPrefix(line, "std") || strings.HasPrefix(line, "whctl") || strings.HasPrefix(line, "#") {
				continue
			}
			for _, name := range formatsOf(args) {
				formats[name] = true
			}
			l, _ := cmdline.ReorderArgs(app, strings.Fields(args)) // quotes are not parsed, and some lines are invalid on purpose
			commands[strings.Join(l.Path, " ")] = true
		}
	}
	for _, command := range leaves(app.Commands) {
		if _, elsewhere := testedElsewhere[command.String()]; commands[command.String()] == elsewhere {
			t.Errorf("%s: in a script: %t, tested elsewhere: %t", command, commands[command.String()], elsewhere)
		}
	}
	for _, e := range exits {
		if !codes[e.Code] {
			t.Errorf("no script has the exit code %d", e.Code)
		}
	}
	for _, name := range output.FormatNames() {
		if !formats[name] {
			t.Errorf("no script uses the format %s", name)
		}
	}
}

var (
	exitCodeLine = regexp.MustCompile(`^(?:exits (\d+) whctl|(?:finish|interrupt) \w+ (\d+)$)`)
	formatFlag   = regexp.MustCompile(`--format[ =](\w+)|--(\w+)`)
)

// exitCodeOf returns the exit code that a line of a script expects.
func exitCodeOf(line string) (code int, ok bool) {
	found := exitCodeLine.FindStringSubmatch(strings.TrimSpace(line))
	if found == nil {
		return 0, false
	}
	code, err := strconv.Atoi(found[1] + found[2])
	return code, err == nil
}

// formatsOf returns the formats that the flags of a command line select.
func formatsOf(args string) (names []string) {
	for _, found := range formatFlag.FindAllStringSubmatch(args, -1) {
		if name := found[1]; name != "" {
			names = append(names, name)
		} else if slices.Contains(output.Shorthands, found[2]) {
			names = append(names, found[2])
		}
	}
	return names
}
