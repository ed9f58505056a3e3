// Package cli implements the parts of a command line that whd and whctl share:
// argument order, terminal prompts, exit codes, help and error output. It does not
// import the client or its HTTP library, because whd must not link them.
package cli

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
)

// urfave/cli stops parsing flags at the first positional argument and treats later
// flags as arguments. ReorderArgs therefore reads the command line itself, using the
// command table, and moves the flags to where the library reads them.

// Line is a command line split into its parts.
type Line struct {
	Globals []string // flags of the program
	Path    []string // command and subcommand, by their canonical names
	Flags   []string // flags of the command
	Args    []string // positional arguments

	IsGroup bool // there is no command, or a group of commands without a subcommand
}

// Argv returns the line in the order that urfave/cli expects.
func (l Line) Argv(name string) []string {
	words := slices.Concat([]string{name}, l.Globals, l.Path, l.Flags)
	if len(l.Args) > 0 {
		words = append(append(words, "--"), l.Args...)
	}
	return words
}

// has reports whether a switch of the program is set. ReorderArgs has written its value as true
// or false.
func (l Line) has(flag string) bool {
	return slices.ContainsFunc(l.Globals, func(word string) bool {
		name, value, _ := strings.Cut(word, "=")
		return name == "--"+flag && value != "false"
	})
}

// Flag describes a flag that a word on the command line refers to.
type Flag struct {
	Name       string // the long name
	TakesValue bool
	Argument   string // the name of the value in help, such as FILE

	rejectFlagValue bool // a next word that starts with -- is not the value; set for the settings of whd
}

// FlagTable finds flags by any of their names.
type FlagTable map[string]Flag

// Add adds flags under all of their names.
func (t FlagTable) Add(flags []cli.Flag) FlagTable {
	for _, f := range flags {
		documented, ok := f.(cli.DocGenerationFlag)
		names := f.Names() // computed by each call
		flag := Flag{Name: names[0], TakesValue: ok && documented.TakesValue()}
		if ok {
			flag.Argument, _ = UnquoteUsage(documented.GetUsage())
		}
		if named, ok := f.(placeholder); ok {
			flag.Argument = named.Placeholder()
			flag.rejectFlagValue = flag.Argument != ""
		}
		for _, name := range names {
			t[name] = flag
		}
	}
	return t
}

// AddCommands adds the flags of all commands. They decide whether a flag that
// precedes its command takes the next word as its value.
func (t FlagTable) AddCommands(commands []*cli.Command) FlagTable {
	for _, c := range commands {
		t.Add(c.Flags)
		t.AddCommands(c.Subcommands)
	}
	return t
}

// Has reports whether the table has a flag of this name.
func (t FlagTable) Has(name string) bool {
	_, ok := t[name]
	return ok
}

// names returns the long names with their dashes, sorted, without aliases.
func (t FlagTable) names() []string {
	var names []string
	for _, f := range t {
		names = append(names, "--"+f.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// writtenFlag is a flag as written on the command line.
type writtenFlag struct {
	name     string
	value    string
	hasValue bool
	position int // position of the word on the line

	typed, typedValue string // as on the line, with dashes
}

// word returns the flag as one word, with its long name and its value, so that no later
// parser can misread it.
func (w writtenFlag) word(long string) string {
	if w.hasValue {
		return "--" + long + "=" + w.value
	}
	return "--" + long
}

// reorderer is the state of ReorderArgs.
type reorderer struct {
	Line
	app      *cli.App
	globals  FlagTable
	local    FlagTable      // flags of the command found so far
	commands []*cli.Command // candidates for the next word
	flags    []writtenFlag
	places   []int // positions of the arguments
	lastWord int   // position of the last word that names the command
	mistake  error // the first one on the line
	wrong    int   // position of the mistake

	typed map[string]writtenFlag // flags of other programs, by the flag that they replace
}

// ReorderArgs splits a command line into its parts. Every error is a *UsageError, of the first
// mistake on the line. The line that is returned with an error still shows whether help is
// requested.
func ReorderArgs(app *cli.App, args []string) (Line, error) {
	r := reorder(app, args)
	return r.Line, r.mistake
}

// reorder is ReorderArgs, with the state.
func reorder(app *cli.App, args []string) *reorderer {
	r := &reorderer{
		typed:    make(map[string]writtenFlag),
		app:      app,
		globals:  FlagTable{}.Add(app.Flags),
		local:    FlagTable{},
		commands: app.Commands,
	}
	r.readWords(args)
	r.resolve()
	r.followFlags()
	r.placeFlags()
	r.moveFields()
	isGroup := len(r.commands) > 0
	if isGroup && len(r.Args) > 0 {
		r.report(r.places[0], unknownCommand(r.app, r.Path, r.Args[0]))
	}
	r.IsGroup = isGroup && r.mistake == nil
	return r
}

// report records the mistake of a word, unless an earlier word has one.
func (r *reorderer) report(position int, mistake error) {
	if r.mistake == nil || position < r.wrong {
		r.mistake = mistake
		r.wrong = position
	}
}

// readWords reads the line up to a malformed flag.
func (r *reorderer) readWords(args []string) {
	for i := 0; i < len(args); {
		word := args[i]
		if word == "--" {
			for n, argument := range args[i+1:] { // the command may follow
				r.readWord(i+1+n, argument)
			}
			return
		}

		isFlag := len(word) > 1 && word[0] == '-'
		if !isFlag {
			r.readWord(i, word)
			i++
			continue
		}
		count, err := r.readFlag(i, args[i:])
		if err != nil {
			r.report(i, err)
			return
		}
		i += count
	}
}

// readWord reads a word that is not a flag: a command if one can follow here, else an
// argument.
func (r *reorderer) readWord(position int, word string) {
	if len(r.Args) == 0 {
		if c := FindCommand(r.commands, []string{word}); c != nil {
			r.Path = append(r.Path, c.Name)
			r.lastWord = position
			r.local.Add(c.Flags)
			r.commands = c.Subcommands
			return
		}
	}
	r.Args = append(r.Args, word)
	r.places = append(r.places, position)
}

// resolve replaces the words of other programs for commands.
func (r *reorderer) resolve() {
	command := resolve(r.app, r.Path, r.Args)
	replaced := len(r.Args) - len(command.args)
	if replaced == 0 {
		return
	}
	for _, flag := range command.flags {
		flag.position = r.places[0]
		r.flags = append(r.flags, flag)
	}
	r.Args = slices.Clip(command.args)
	if len(r.Args) == 0 {
		r.Args = nil
	}
	r.lastWord = r.places[replaced-1]
	r.places = r.places[replaced:]
	r.enter(command.path)
}

// enter makes the command at a path that of the line.
func (r *reorderer) enter(path []string) {
	r.Path = path
	for i := range r.Path {
		command := FindCommand(r.app.Commands, r.Path[:i+1])
		r.local.Add(command.Flags)
		r.commands = command.Subcommands
	}
}

// followFlags replaces a command that lacks a flag of the line by another one if that has
// all of them: a group by its list, and records RECORD by the query of its rows. Both only read.
func (r *reorderer) followFlags() {
	path := r.Path
	isGroup := len(path) > 0 && len(r.commands) > 0 && len(r.Args) == 0
	isRecord := r.command() == "records" && len(r.Args) == 1
	switch {
	case isGroup:
		path = append(slices.Clone(path), "list")
	case isRecord:
		path = []string{"query"}
	default:
		return
	}
	command := FindCommand(r.app.Commands, path)
	if command == nil {
		return
	}
	lacksFlag := func(w writtenFlag) bool { return !r.hasFlag(w) }
	if !slices.ContainsFunc(r.flags, lacksFlag) {
		return
	}
	meant := &reorderer{app: r.app, globals: r.globals, local: FlagTable{}.Add(command.Flags)}
	meant.Path = path
	if !slices.ContainsFunc(r.flags, func(w writtenFlag) bool { return !meant.hasFlag(w) }) {
		r.local = FlagTable{}
		r.enter(path)
	}
}

// hasFlag reports whether the command or the program has a flag that is written on the line, or
// understands it.
func (r *reorderer) hasFlag(w writtenFlag) bool {
	_, isFamiliar := r.familiarFlag(w)
	return r.local.Has(w.name) || r.globals.Has(w.name) || isFamiliar
}

// familiarFlag returns the row of a flag of another program, with its value or without, that the
// command or the program understands.
func (r *reorderer) familiarFlag(w writtenFlag) (familiarRow, bool) {
	if w.typedValue != "" {
		row, ok := familiarFlag(dashed(w.name)+" "+strings.ToLower(w.typedValue), r.accepts)
		if ok {
			return row, true
		}
	}
	return familiarFlag(dashed(w.name), r.accepts)
}

// readFlag reads the flag that words start with, and the next word if that is its value. It
// returns the number of words that it has read.
func (r *reorderer) readFlag(position int, words []string) (count int, err error) {
	word := words[0]
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	written := writtenFlag{position: position}
	written.name, written.value, written.hasValue = strings.Cut(name, "=")
	written.typed, _, _ = strings.Cut(word, "=")

	flag := r.find(written.name)
	count = 1
	if flag.TakesValue && !written.hasValue {
		written.value, err = r.nextValue(word, written.name, flag, words[1:])
		if err != nil {
			return 0, err
		}
		written.hasValue = true
		count = 2
	}
	written.typedValue = written.value
	isSwitch := flag.Name != "" && !flag.TakesValue
	if isSwitch && written.hasValue {
		on, err := strconv.ParseBool(written.value)
		if err != nil { // the value is not repeated: it may be a password
			return 0, Usagef("%s takes no value, except =true or =false%s", written.typed, r.secretHint(written.name))
		}
		written.value = strconv.FormatBool(on)
	}
	r.flags = append(r.flags, written)
	return count, nil
}

// fieldList matches a list of fields.
var fieldList = regexp.MustCompile(`^[A-Za-z_]\w*(,\w+)*$`)

// moveFields moves an argument too many of a command with --json to --fields, as in gh: a list, or
// else the last one that can be a field.
func (r *reorderer) moveFields() {
	if !slices.Contains(r.Flags, "--json") || !r.local.Has("fields") {
		return
	}
	_, maximum := arity(FindCommand(r.app.Commands, r.Path).ArgsUsage)
	if maximum < 0 || len(r.Args) <= maximum {
		return
	}
	i := -1
	for n, word := range r.Args {
		isBetter := i < 0 || !strings.Contains(r.Args[i], ",")
		if isBetter && fieldList.MatchString(word) {
			i = n
		}
	}
	if i < 0 {
		return
	}
	r.Flags = append(r.Flags, "--fields="+r.Args[i])
	r.Args = slices.Delete(r.Args, i, i+1)
	r.places = slices.Delete(r.places, i, i+1)
	if len(r.Args) == 0 {
		r.Args = nil
	}
}

// nextValue returns the value of a flag from the words after it.
func (r *reorderer) nextValue(word, name string, flag Flag, following []string) (string, error) {
	if len(following) == 0 {
		r.resolve() // all words of the command have been read
		if !r.knows(name) {
			return "", r.unknownFlag(name) // a flag of another command
		}
	}
	isMissing := len(following) == 0 || flag.rejectFlagValue && strings.HasPrefix(following[0], "--")
	if isMissing {
		near := ""
		if r.local.Has(name) { // in another program it may take none
			near = record.DidYouMean(r.familiar(word))
		}
		return "", Usagef("%s needs a value: %s %s%s", word, word, flag.Argument, near)
	}
	return following[0], nil
}

// find looks a flag up, first among those of the command, then of the program,
// then of all commands, then of other programs. An unknown flag is empty.
func (r *reorderer) find(name string) Flag {
	if flag, ok := r.local[name]; ok {
		return flag
	}
	if flag, ok := r.globals[name]; ok {
		return flag
	}
	all := FlagTable{}.AddCommands(r.app.Commands)
	if flag, ok := all[name]; ok {
		return flag
	}
	if flag, ok := all.Add(r.app.Flags).Familiar(name); ok {
		return flag
	}
	if takesFamiliarValue(dashed(name)) {
		return Flag{Name: name, TakesValue: true, Argument: "VALUE"}
	}
	row, ok := familiarFlag(dashed(name), familiarRow.isArgument)
	return Flag{Name: row.own, TakesValue: ok, Argument: row.own}
}

// knows reports whether the command or the program has a flag, or understands that of another
// program.
func (r *reorderer) knows(name string) bool {
	_, isFamiliar := familiarFlag(dashed(name), r.accepts)
	return r.local.Has(name) || r.globals.Has(name) || isFamiliar
}

// accepts reports whether the command or the program has the flag, or the command the argument, of
// a row.
func (r *reorderer) accepts(f familiarRow) bool {
	if f.isArgument() {
		command := FindCommand(r.app.Commands, r.Path)
		return command != nil && strings.Trim(command.ArgsUsage, "[].") == f.own
	}
	flag, _ := f.flag()
	isForCommand := f.only == "" || f.only == r.command()
	return f.isFlag() && isForCommand && (r.local.Has(flag) || r.globals.Has(flag))
}

// placeFlags sorts the flags into those of the program and those of the command.
func (r *reorderer) placeFlags() {
	for _, written := range r.flags {
		if r.placeFlag(written) {
			continue
		}
		row, ok := r.familiarFlag(written)
		switch {
		case !ok:
			r.report(written.position, r.unknownFlag(written.name))
		case row.isArgument():
			r.Args = append(r.Args, written.value)
			r.places = append(r.places, written.position)
		default:
			r.placeFlag(row.translate(written))
		}
	}
	r.checkTwice()
}

// singleFlags are flags that have one value, also if they are written in the words of several
// programs.
var singleFlags = []string{"order-by", "take", "skip", "by", "since", "until", "to"}

// checkTwice reports flags that have one meaning and different values.
func (r *reorderer) checkTwice() {
	first := make(map[string]writtenFlag) // by name
	for _, w := range r.flags {
		name := w.name
		if !r.local.Has(name) {
			row, _ := r.familiarFlag(w)
			name, _ = row.flag()
			r.typed[name] = w
		}
		name = r.local[name].Name
		before, isTwice := first[name]
		if !isTwice {
			first[name] = w
			continue
		}
		differs := before.typed != w.typed && before.typedValue != w.typedValue
		if differs && slices.Contains(singleFlags, name) {
			r.report(w.position, Usagef("%s and %s have the same meaning, but different values, %q and %q; use one",
				before.typed, w.typed, before.typedValue, w.typedValue))
		}
	}
}

// asTyped returns a message with the flag of another program where it names the flag that it
// replaces. Suggestions keep the name here.
func (r *reorderer) asTyped(message string) string {
	message, hint, hasHint := strings.Cut(message, "; did you mean")
	for name, w := range r.typed {
		flag := regexp.MustCompile(`--` + regexp.QuoteMeta(name) + `\b([^-]|$)`)
		if name != "" {
			message = flag.ReplaceAllString(message, w.typed+"$1")
		}
	}
	if hasHint {
		message += "; did you mean" + hint
	}
	return message
}

// placeFlag adds a flag to those of the command or of the program; false if neither has it.
func (r *reorderer) placeFlag(written writtenFlag) bool {
	if flag, ok := r.local[written.name]; ok {
		r.Flags = append(r.Flags, written.word(flag.Name))
		return true
	}
	flag, ok := r.globals[written.name]
	if ok && r.isOtherURL(flag, written) && r.hasOwnURL() {
		r.report(written.position, Usagef("--%s is the address of the service, and %s the URL of the subscription; "+
			"the address of the service goes before the command: %s --%s %s %s",
			written.name, r.ownURL(), r.app.Name, written.name, flag.Argument, r.command()))
		return true
	}
	if ok && r.isOtherURL(flag, written) {
		r.report(written.position, Usagef("--%s is the address of the service, which gets your password, "+
			"and %s is the URL of the subscription: %s (for another service, --%s %s goes before %s)",
			written.name, r.ownURL(), r.withOwnURL(written.value), written.name, flag.Argument, r.command()))
		return true
	}
	if ok {
		r.Globals = append(r.Globals, written.word(flag.Name))
	}
	return ok
}

// urlFlag is the flag of the program for the address of the service, and urlArgument an argument or the
// value of a flag of a command that has a URL of its own.
const (
	urlFlag     = "url"
	urlArgument = "URL"
)

// ownURL returns how the command takes a URL of its own, empty if it takes none.
func (r *reorderer) ownURL() string {
	command := FindCommand(r.app.Commands, r.Path)
	if command == nil {
		return ""
	}
	if flag := r.local["to"]; flag.Argument == urlArgument {
		return "--to"
	}
	if slices.Contains(strings.Fields(command.ArgsUsage), urlArgument) {
		return "the argument " + urlArgument
	}
	return ""
}

// hasOwnURL reports whether the line also has the URL that the command takes.
func (r *reorderer) hasOwnURL() bool {
	if r.local["to"].Argument == urlArgument {
		return slices.ContainsFunc(r.flags, func(w writtenFlag) bool { return w.name == "to" })
	}
	_, maximum := arity(FindCommand(r.app.Commands, r.Path).ArgsUsage)
	return len(r.Args) >= maximum
}

// withOwnURL returns the command line with a URL as the command takes it. One that can have a secret
// is not repeated.
func (r *reorderer) withOwnURL(url string) string {
	if strings.ContainsAny(url, "@? '\"") || url == "" {
		url = urlArgument
	}
	words := append([]string{r.app.Name}, r.Path...)
	words = append(words, r.Args...)
	if r.local["to"].Argument == urlArgument {
		words = append(words, "--to")
	}
	return strings.Join(append(words, url), " ")
}

// isOtherURL reports whether the address of the service is written behind a command that takes
// another URL. It is probably meant as that one, which would get the password.
func (r *reorderer) isOtherURL(flag Flag, written writtenFlag) bool {
	return flag.Name == urlFlag && written.position > r.lastWord && r.ownURL() != ""
}

// command returns the path as written on a command line.
func (r *reorderer) command() string { return strings.Join(r.Path, " ") }
