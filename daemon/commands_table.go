package daemon

import (
	"context"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/config"
)

// command is one row of the table of commands.
type command struct {
	name     string // one or two words
	args     string // names of its arguments; in brackets where one may be left out
	summary  string
	options  []config.Option
	settings []config.Setting // those that it takes as flags
	run      func(context.Context, *call) error
}

// commands is the table, in the order in which help lists them.
func commands() []command {
	all := config.Settings()
	storing := config.Named("config", "store", "store.schema", "data_dir")
	reading := config.Named("config", "store", "store.read_dsn", "store.schema", "data_dir", "erp.schema", "erp.sources")
	checking := append(reading, config.Named("webhooks.enabled", "webhooks.host_url", "webhooks.allow_targets", "tls.cert", "tls.key", "erp.version_source")...)
	return []command{
		{name: "serve", summary: "Serve the records over HTTP until a signal comes", options: serveOptions(), settings: all, run: serve},
		{name: "migrate", summary: "Bring the store's own tables up to date and print their versions", settings: storing, run: migrate},
		{name: "check", summary: "Compare what the service needs with what there is: tables, columns, rights, room, clock, addresses", options: checkOptions(), settings: checking, run: check},
		{name: "backup", args: "FILE", summary: "Put the embedded store into one file, also while daemons work with it", settings: storing, run: backUp},
		{name: "restore", args: "FILE", summary: "Bring back the embedded store that such a file has", options: restoreOptions(), settings: storing, run: restore},
		{name: "compact", summary: "Give the room back that the files of the embedded store take and do not need; stop the daemon first", settings: storing, run: compact},
		{name: "demo", summary: "Fill an empty store with the records of a demo business; on a server it makes missing tables", settings: reading, run: fillStore},
		{name: "user add", args: "NAME", summary: "Add a user", options: append(passwordOptions(), roleOption()), settings: storing, run: userAdd},
		{name: "user list", summary: "List the users", settings: storing, run: userList},
		{name: "user remove", args: "NAME", summary: "Remove a user and end their sessions", settings: storing, run: userRemove},
		{name: "user role", args: "NAME ROLE", summary: "Give a user another role", settings: storing, run: userRole},
		{name: "user password", args: "NAME", summary: "Give a user another password and end their sessions", options: passwordOptions(), settings: storing, run: userPassword},
		{name: "key add", args: "NAME", summary: "Make an API key and print it, once", options: keyOptions(), settings: storing, run: keyAdd},
		{name: "key list", summary: "List the API keys", settings: storing, run: keyList},
		{name: "key remove", args: "KEY", summary: "Remove an API key, by its id or name", settings: storing, run: keyRemove},
		{name: "config", summary: "Print every setting, its value at a start, where that came from and what it does", options: configOptions(), settings: all, run: printConfig},
		{name: "service install", summary: "Make this program a service of systemd or Windows, with an account of its own", settings: config.Named("config"), run: serviceInstall},
		{name: "service uninstall", summary: "End the service and have the system forget it; settings and data are left", run: serviceUninstall},
		{name: "service start", summary: "Begin the service", run: serviceControl("start")},
		{name: "service stop", summary: "End the service until the machine or somebody begins it", run: serviceControl("stop")},
		{name: "service restart", summary: "End the service and begin it anew", run: serviceControl("restart")},
		{name: "service reload", summary: "Have the service read its settings and certificates again, without a pause", run: serviceReload},
		{name: "service status", summary: "Print whether the service runs; 1 is the exit status unless it does", run: serviceStatus},
		{name: "version", summary: "Print the version of the program and of what it is built with", run: printVersion},
		{name: "help", args: "[COMMAND...]", summary: "Print this, or what a command takes", run: help},
	}
}

// findCommand takes the command's words off the arguments.
func findCommand(args []string) (command, []string, error) {
	if len(args) == 0 {
		return command{}, nil, config.Usagef("which command? see whd help")
	}
	switch args[0] {
	case "-h", "-help", "--help":
		args = append([]string{"help"}, args[1:]...)
	case "--version", "-version":
		args = append([]string{"version"}, args[1:]...)
	}
	table := commands()
	for words := min(2, len(args)); words > 0; words-- {
		name := strings.Join(args[:words], " ")
		i := slices.IndexFunc(table, func(c command) bool { return c.name == name })
		if i >= 0 {
			return table[i], args[words:], nil
		}
	}
	return command{}, nil, unknownCommand(table, args)
}

// unknownCommand says what would be right in place of args, whose first word
// may be the first of two.
func unknownCommand(table []command, args []string) error {
	if strings.HasPrefix(args[0], "-") {
		return config.Usagef("the command comes first, then its flags: whd serve %s", args[0])
	}
	var names, seconds []string
	for _, c := range table {
		first, second, _ := strings.Cut(c.name, " ")
		if first == args[0] {
			seconds = append(seconds, second)
		}
		if !slices.Contains(names, first) {
			names = append(names, first)
		}
	}
	switch {
	case seconds == nil:
		return config.Usagef("unknown command %q%s", args[0], config.DidYouMean("whd ", record.Near(args[0], names)))
	case len(args) == 1 || strings.HasPrefix(args[1], "-"):
		return config.Usagef("whd %s needs one of: %s", args[0], strings.Join(seconds, ", "))
	}
	near := config.DidYouMean("whd "+args[0]+" ", record.Near(args[1], seconds))
	if near == "" {
		near = "; there are: " + strings.Join(seconds, ", ")
	}
	return config.Usagef("unknown command \"%s %s\"%s", args[0], args[1], near)
}
