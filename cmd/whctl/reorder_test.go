package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
	"pgregory.net/rapid"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/daemon/daemontest"
)

func testApp() *cli.App {
	return newApp(&command.Session{})
}

// leaf is a command without subcommands, with its path.
type leaf struct {
	path []string
	*cli.Command
}

func (l leaf) String() string { return strings.Join(l.path, " ") }

// leaves returns all commands of the tree that have no subcommands.
func leaves(commands []*cli.Command, path ...string) []leaf {
	var all []leaf
	for _, c := range commands {
		here := append(slices.Clone(path), c.Name)
		if len(c.Subcommands) == 0 {
			all = append(all, leaf{here, c})
		}
		all = append(all, leaves(c.Subcommands, here...)...)
	}
	return all
}

// parsed is the result of parsing a command line.
type parsed struct {
	command string
	flags   map[string]string
	args    []string
}

// parse parses a command line with actions that only record their arguments.
func parse(args []string) (parsed, error) {
	app := testApp()
	var got parsed
	for _, l := range leaves(app.Commands) {
		l.Action = func(c *cli.Context) error {
			got = parsed{
				command: l.String(),
				flags:   make(map[string]string),
				args:    c.Args().Slice(),
			}
			for _, name := range c.FlagNames() { // IsSet of every flag would take most of the time
				got.flags[name] = fmt.Sprint(c.Value(name))
			}
			return nil
		}
	}
	line, err := cmdline.ReorderArgs(app, args)
	if err != nil {
		return got, err
	}
	err = app.RunContext(context.Background(), line.Argv(app.Name))
	return got, err
}

// valueFor draws a valid value of a flag.
func valueFor(t *rapid.T, f cli.Flag) string {
	switch f.(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		return rapid.SampledFrom([]string{"0", "7", "-7"}).Draw(t, "number")
	case *cli.DurationFlag:
		return "3s"
	}
	texts := []string{"plain", "-dash", "--take", "a,b", "a=b", "-", "query", ""}
	return rapid.SampledFrom(texts).Draw(t, "text")
}

// spellFlag draws a spelling of a flag: any of its names, with an inline or separate value.
func spellFlag(t *rapid.T, f cli.Flag) []string {
	name := rapid.SampledFrom(f.Names()).Draw(t, "name")
	if len(name) > 1 {
		name = "-" + name
	}
	if !f.(cli.DocGenerationFlag).TakesValue() {
		return []string{"-" + name}
	}
	value := valueFor(t, f)
	if rapid.Bool().Draw(t, "inline") {
		return []string{"-" + name + "=" + value}
	}
	return []string{"-" + name, value}
}

// For each command, the result of parsing does not depend on the position of the flags. The
// commands are drawn from all, or from each group if the test is exhaustive. The flag
// -rapid.checks sets the number of cases.
func TestFlagsAreAcceptedAnywhere(t *testing.T) {
	app := testApp()
	if !daemontest.Exhaustive() {
		commands := leaves(app.Commands)
		rapid.Check(t, func(t *rapid.T) { checkFlagsAnywhere(t, commands, app.Flags) })
		return
	}
	for _, group := range app.Commands {
		commands := leaves([]*cli.Command{group})
		t.Run(group.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkFlagsAnywhere(t, commands, app.Flags) })
		})
	}
}

// checkFlagsAnywhere draws a command line, and compares the results of parsing with the flags at
// the end and with the flags in other places.
func checkFlagsAnywhere(t *rapid.T, commands []leaf, global []cli.Flag) {
	command := rapid.SampledFrom(commands).Draw(t, "command")
	hasOwnURL := takesURL(command.Command)
	flags := slices.DeleteFunc(slices.Concat(command.Flags, global), func(f cli.Flag) bool {
		return isHelpFlag(f) || hasOwnURL && f.Names()[0] == "url"
	})
	var groups [][]string
	for _, f := range rapid.SliceOfN(rapid.SampledFrom(flags), 0, 5).Draw(t, "flags") {
		groups = append(groups, spellFlag(t, f))
	}
	words := rapid.SampledFrom([]string{"SO_Totals", "query", "-", "x y"})
	plain := slices.Concat(command.path, rapid.SliceOfN(words, 0, 2).Draw(t, "args"))

	last := slices.Concat(plain, slices.Concat(groups...))
	want, err := parse(last)
	if err != nil {
		t.Fatalf("parsing %q: %v", last, err)
	}
	mixed := interleave(t, plain, groups)
	got, err := parse(mixed)
	if err != nil {
		t.Fatalf("parsing %q: %v; want the result of %q", mixed, err, last)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("parsing %q\n is %+v, want that of %q\n    %+v", mixed, got, last, want)
	}
}

const guid = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

// sampleArguments has a valid argument for each word of ArgsUsage.
var sampleArguments = map[string]string{
	"RECORD":             "SO_Totals",
	"RECORD...":          "SO_Totals",
	"[RECORD]":           "SO_Totals",
	"NAME":               "new",
	"PROFILE":            "other",
	"[PROFILE]":          "other",
	"[SHELL]":            "fish",
	"SETTING":            "format",
	"[SETTING]":          "format",
	"VALUE":              "json",
	"[COMMAND|TOPIC...]": "query",
	"SUBSCRIBER":         "acme",
	"SUBSCRIBER...":      "acme",
	"SUBSCRIPTION":       guid,
	"SUBSCRIPTION...":    guid,
	"MESSAGE":            guid,
	"KEY|MESSAGE":        guid,
	"[MESSAGE...]":       guid,
	"EVENT":              "debtor.created",
	"[EVENT]":            "debtor.created",
	"[BODY]":             "{}",
	"URL":                "https://hooks.example",
	"USER":               "ann",
	"USER...":            "ann",
	"KEY":                "nightly",
	"KEY...":             "nightly",
}

// sampleFlags has sets of flags that can be combined. Those that a command does not have
// are left out.
var sampleFlags = [][]string{
	{
		"--dry-run",
		"--format=json",
		"--take=2",
		"-w=InvoiceID^=D",
		"--fields=InvoiceID",
		"--timeout=20s",
		"--verbose",
		"--origin",
		"--colour=red",
		"--url=http://127.0.0.1:1",
	},
	{
		"--dry-run",
		"--null=x",
		"--read-only",
		"--user=ann",
		"--order-by=-InvoiceID",
		"--protected",
		"--all",
		"--debug",
	},
}

// For each command, the output and the configuration file do not depend on the position
// of the flags.
func TestFlagPositionDoesNotChangeOutput(t *testing.T) {
	for _, command := range leaves(testApp().Commands) {
		t.Run(command.String(), func(t *testing.T) {
			known := (cmdline.FlagTable{}).Add(command.Flags).Add(testApp().Flags)
			plain := plainLine(t, command)
			if slices.Contains([]string{"subscriptions create", "subscriptions update"}, command.String()) {
				delete(known, "url") // it goes before a command with a URL of its own
			}
			for _, set := range sampleFlags {
				checkPositions(t, plain, slices.DeleteFunc(slices.Clone(set), lacks(known)))
			}
		})
	}
}

// plainLine returns a command with sample arguments, without flags.
func plainLine(t *testing.T, command leaf) []string {
	t.Helper()
	plain := slices.Clone(command.path)
	for word := range strings.FieldsSeq(command.ArgsUsage) {
		argument, ok := sampleArguments[word]
		if !ok {
			t.Fatalf("no sample argument for %s", word)
		}
		plain = append(plain, argument)
	}
	return plain
}

// checkPositions runs a command with flags at the end, and with a half of them before it and
// the other half before each of its words.
func checkPositions(t *testing.T, plain, flags []string) {
	t.Helper()
	want := runAndCollect(t, slices.Concat(plain, flags))
	half := len(flags) / 2
	for i := range plain {
		mixed := slices.Concat(flags[:half], plain[:i], flags[half:], plain[i:])
		if got := runAndCollect(t, mixed); got != want {
			t.Errorf("running %q\ngot  %q\nwant %q", mixed, got, want)
		}
	}
}

// lacks returns a function that reports whether a flag is not in the table.
func lacks(flags cmdline.FlagTable) func(flag string) bool {
	return func(flag string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		return !flags.Has(name)
	}
}

// runAndCollect returns the exit code, the output and the configuration file after a
// run, without parts that vary.
func runAndCollect(t *testing.T, args []string) string {
	t.Helper()
	dir := t.TempDir()
	text := "profile = \"main\"\n[profiles.main]\n[profiles.other]\nurl = \"http://other\"\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	undated := func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		rows(1, d1)(w, r)
	}
	env := map[string]string{"EDITOR": "true"} // which changes nothing
	got := invocation{handler: undated, config: dir, env: env}.run(t, args...)
	after, err := os.ReadFile(filepath.Join(dir, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%d\n%s\n%s\n%s", got.code, got.stdout, got.stderr, after)
	return varying.ReplaceAllString(strings.ReplaceAll(all, dir, "DIR"), "")
}

var varying = regexp.MustCompile(`127\.0\.0\.1:\d\d+|took=\S+`)

// takesURL reports whether a command has an argument or a flag for a URL of its own. --url behind
// such a command is an error.
func takesURL(c *cli.Command) bool {
	flags := cmdline.FlagTable{}.Add(c.Flags)
	return strings.Contains(c.ArgsUsage, "URL") || flags["to"].Argument == "URL"
}

// isHelpFlag reports whether a flag is --help, which is not passed to urfave/cli.
func isHelpFlag(f cli.Flag) bool { return f.Names()[0] == cmdline.HelpFlag }

// interleave inserts groups of words between the plain words. Both keep their order.
func interleave(t *rapid.T, plain []string, groups [][]string) []string {
	var line []string
	for len(plain)+len(groups) > 0 {
		if len(groups) == 0 || len(plain) > 0 && rapid.Bool().Draw(t, "plain first") {
			line = append(line, plain[0])
			plain = plain[1:]
			continue
		}
		line = append(line, groups[0]...)
		groups = groups[1:]
	}
	return line
}

func TestReorderArgs(t *testing.T) {
	for _, tt := range []struct {
		args string
		want cmdline.Line
	}{
		{
			args: "query SO_Totals --format csv",
			want: cmdline.Line{
				Path:  []string{"query"},
				Flags: []string{"--format=csv"},
				Args:  []string{"SO_Totals"},
			},
		},
		{
			args: "--take 5 query SO_Totals -q",
			want: cmdline.Line{
				Globals: []string{"--quiet"},
				Path:    []string{"query"},
				Flags:   []string{"--take=5"},
				Args:    []string{"SO_Totals"},
			},
		},
		{
			args: "query -n 5 SO_Totals --url=http://x -w a,b --where c",
			want: cmdline.Line{
				Globals: []string{"--url=http://x"},
				Path:    []string{"query"},
				Flags:   []string{"--take=5", "--where=a,b", "--where=c"},
				Args:    []string{"SO_Totals"},
			},
		},
		{
			args: "query --order-by -F SO_Totals -o -",
			want: cmdline.Line{
				Path:  []string{"query"},
				Flags: []string{"--order-by=-F", "--output=-"},
				Args:  []string{"SO_Totals"},
			},
		},
		{
			args: "query --all SO_Totals",
			want: cmdline.Line{
				Path:  []string{"query"},
				Flags: []string{"--all"},
				Args:  []string{"SO_Totals"},
			},
		},
		{
			args: "query -- --all -q",
			want: cmdline.Line{
				Path: []string{"query"},
				Args: []string{"--all", "-q"},
			},
		},
		{
			args: "-- query SO_Totals --all",
			want: cmdline.Line{
				Path: []string{"query"},
				Args: []string{"SO_Totals", "--all"},
			},
		},
		{
			args: "profile -- show list",
			want: cmdline.Line{
				Path: []string{"profile", "show"},
				Args: []string{"list"},
			},
		},
		{
			args: "query - SO_Totals",
			want: cmdline.Line{
				Path: []string{"query"},
				Args: []string{"-", "SO_Totals"},
			},
		},
		{
			args: "query query",
			want: cmdline.Line{
				Path: []string{"query"},
				Args: []string{"query"},
			},
		},
		{
			args: "profile --url http://x add -q prod --colour red",
			want: cmdline.Line{
				Globals: []string{"--url=http://x", "--quiet"},
				Path:    []string{"profile", "create"},
				Flags:   []string{"--colour=red"},
				Args:    []string{"prod"},
			},
		},
		{
			args: "--protected profiles add list",
			want: cmdline.Line{
				Path:  []string{"profile", "create"},
				Flags: []string{"--protected"},
				Args:  []string{"list"},
			},
		},
		{
			args: "record SO_Totals",
			want: cmdline.Line{
				Path: []string{"records"},
				Args: []string{"SO_Totals"},
			},
		},
		{
			args: "",
			want: cmdline.Line{
				IsGroup: true,
			},
		},
		{
			args: "profiles -q",
			want: cmdline.Line{
				Globals: []string{"--quiet"},
				Path:    []string{"profile"},
				IsGroup: true,
			},
		},
	} {
		got, err := cmdline.ReorderArgs(testApp(), strings.Fields(tt.args))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("reordering %q: got %+v, error %v; want %+v", tt.args, got, err, tt.want)
		}
	}
}

// A flag has the same type in all commands. Otherwise a flag before its command could
// not be parsed. The name of its value may differ: errors have that of the command.
func TestFlagsHaveSameTypeInAllCommands(t *testing.T) {
	meaning := cmdline.FlagTable{}.Add(testApp().Flags)
	for _, c := range leaves(testApp().Commands) {
		for name, o := range (cmdline.FlagTable{}).Add(c.Flags) {
			o.Argument = meaning[name].Argument
			if known, ok := meaning[name]; ok && known != o {
				t.Errorf("%s --%s is %+v, elsewhere %+v", c, name, o, known)
			}
			meaning[name] = o
		}
	}
}

// FuzzReorderArgs checks that reordered arguments are not reordered further, and that all
// errors are usage errors.
func FuzzReorderArgs(f *testing.F) {
	f.Add("query\nSO_Totals\n--format\ncsv")
	f.Add("--take\n5\nquery\n-w\nA=1\n--\n-x")
	f.Add("-\n--\n---\n-=\n--=x\n=")
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\n")
		l, err := cmdline.ReorderArgs(testApp(), args)
		if err != nil {
			if !cmdline.IsUsage(err) {
				t.Fatalf("%q: error %v", args, err)
			}
			return
		}
		reparsed, err := cmdline.ReorderArgs(testApp(), l.Argv("whctl")[1:])
		if err != nil || !reflect.DeepEqual(reparsed, l) {
			t.Fatalf("%q became %+v, and that %+v, %v", args, l, reparsed, err)
		}
	})
}
