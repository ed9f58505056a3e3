package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
)

// commands is the command table: a line for each noun, whose own table is in
// the file of its name.
func (p *program) commands() []*cli.Command {
	return slices.Concat(
		p.queryCommands(),
		p.recordCommands(),
		p.subscriberCommands(),
		p.subscriptionCommands(),
		p.messageCommands(),
		p.eventCommands(),
		p.requestCommands(),
		p.billCommands(),
		p.userCommands(),
		p.keyCommands(),
		p.serviceCommands(),
		p.triggerCommands(),
		p.listenCommands(),
		p.doctorCommands(),
		p.loginCommands(),
		p.profileCommands(),
		p.configCommands(),
		p.tuiCommands(),
		p.completionCommands(),
		p.manCommands(),
		p.helpCommands(),
	)
}

// dress gives all commands what they have in common.
func dress(commands []*cli.Command, path string) {
	for _, c := range commands {
		name := strings.TrimSpace(path + " " + c.Name)
		c.HideHelp = true
		c.OnUsageError = onUsageError
		if c.Action != nil {
			c.Action = counted(name, c.ArgsUsage, c.Action)
		}
		dress(c.Subcommands, name)
	}
}

// counted is an action that runs only with as many arguments as the command
// takes.
func counted(name, usage string, action cli.ActionFunc) cli.ActionFunc {
	least, most := arity(usage)
	return func(c *cli.Context) error {
		switch n := c.Args().Len(); {
		case usage == "" && n > 0:
			return usagef("%s takes no argument %q", name, c.Args().First())
		case n < least && n == 0:
			return usagef("%s needs %s", name, usage)
		case n < least || most >= 0 && n > most:
			return usagef("%s takes %s, not %d arguments", name, usage, n)
		}
		return action(c)
	}
}

// arity reads how many arguments a command takes; most is -1 where there is no
// end to them.
func arity(usage string) (least, most int) {
	for word := range strings.FieldsSeq(usage) {
		if !strings.HasPrefix(word, "[") {
			least++
		}
		if most++; strings.Contains(word, "...") {
			return least, -1
		}
	}
	return least, most
}

// findCommand looks a command up by its path, in which any of its names stand.
func findCommand(commands []*cli.Command, path []string) *cli.Command {
	var found *cli.Command
	for _, word := range path {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		if i < 0 {
			return nil
		}
		found, commands = commands[i], commands[i].Subcommands
	}
	return found
}

// noCommand is the error of a word that is no command, or of none where one is
// needed.
func noCommand(commands []*cli.Command, group, word string) error {
	var names, all []string
	for _, c := range commands {
		if !c.Hidden {
			names, all = append(names, c.Name), append(all, c.Names()...)
		}
	}
	near := didYouMean(record.Near(word, all))
	switch {
	case group == "":
		return usagef("no command %q%s", word, near)
	case word == "":
		return usagef("%s needs one of: %s", group, strings.Join(names, ", "))
	case near == "":
		near = "; it has " + strings.Join(names, ", ")
	}
	return usagef("%s has no command %q%s", group, word, near)
}
