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

// untold are commands that no story runs, with where they are tested.
var untold = map[string]string{"tui": "package tui, whose tests press its keys"}

// The stories run every command, end with every exit code, and write every
// format.
func TestStoriesTellAll(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	commands, codes, formats := map[string]bool{}, map[int]bool{}, map[string]bool{}
	app := testApp()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if code, ok := endsWith(line); ok {
				codes[code] = true
			}
			_, args, runs := strings.Cut(line, "whctl ")
			if !runs || strings.HasPrefix(line, "std") || strings.HasPrefix(line, "whctl") || strings.HasPrefix(line, "#") {
				continue
			}
			for _, name := range asksFor(args) {
				formats[name] = true
			}
			l, _ := cmdline.ReorderArgs(app, strings.Fields(args)) // quotes are not read here, and a line may be wrong on purpose
			commands[strings.Join(l.Path, " ")] = true
		}
	}
	for _, command := range leaves(app.Commands) {
		if _, elsewhere := untold[command.String()]; commands[command.String()] == elsewhere {
			t.Errorf("%s: in a story: %t, tested elsewhere: %t", command, commands[command.String()], elsewhere)
		}
	}
	for _, e := range exits {
		if !codes[e.Code] {
			t.Errorf("no story ends with %d", e.Code)
		}
	}
	for _, name := range output.FormatNames() {
		if !formats[name] {
			t.Errorf("no story writes %s", name)
		}
	}
}

var (
	endingLine  = regexp.MustCompile(`^(?:exits (\d+) whctl|(?:finish|interrupt) \w+ (\d+)$)`)
	askedFormat = regexp.MustCompile(`--format[ =](\w+)|--(\w+)`)
)

// endsWith is the exit code that a line of a story asks for.
func endsWith(line string) (code int, ok bool) {
	found := endingLine.FindStringSubmatch(strings.TrimSpace(line))
	if found == nil {
		return 0, false
	}
	code, err := strconv.Atoi(found[1] + found[2])
	return code, err == nil
}

// asksFor are the formats that a line asks for.
func asksFor(args string) (names []string) {
	for _, found := range askedFormat.FindAllStringSubmatch(args, -1) {
		if name := found[1]; name != "" {
			names = append(names, name)
		} else if slices.Contains(output.Shorthands, found[2]) {
			names = append(names, found[2])
		}
	}
	return names
}
