// Command whctl queries records and manages webhooks of a whd service, from a terminal
// or a script.
//
// main passes arguments, environment and streams to run; cmd/internal/cli reorders
// the command line and runs a command of the table in main.go. The action of the
// command reads flags, connects and prints, and returns an error, which the table in
// exit.go maps to an exit code.
//
// To add a group of commands, write a file with its name, here or in package webhooks, and
// a table of its commands,
//
//	func SubscriberCommands() []*cli.Command {
//		return []*cli.Command{{
//			Name:    "subscribers",
//			Aliases: []string{"subscriber"},
//			Usage:   "manage subscribers, which receive events",
//			Subcommands: []*cli.Command{
//				{
//					Name:   "stats",
//					Usage:  "count the subscribers",
//					Flags:  output.Flags(),
//					Action: command.Reads(countSubscribers),
//				},
//				{
//					Name:      "create",
//					ArgsUsage: "NAME",
//					Usage:     "create a subscriber",
//					Flags:     command.NewFlags(),
//					Action:    command.Changes(createSubscriber),
//				},
//			},
//		}}
//	}
//
// and add a line to commands. The verbs are list, show, create, update, delete,
// enable, disable, retry, test and tail. ArgsUsage determines the number of
// arguments: an upper-case word each, in brackets if optional, followed by "..." if
// repeatable. Help, manual and completion are generated from Usage, the flags and
// Description, which has examples. The tests run every command of the table.
//
// Actions are created by functions that open and close the connection, in the packages
// command and records:
//
//   - command.Reads: the action receives a client and a printer. The client refuses to send
//     changes if the profile is read-only or protected.
//   - command.Shows, ShowsAll and ShowsOne: the action prints documents of the service as rows.
//   - records.Lists: the action prints the records of a kind selected by --where etc.
//   - command.Changes: the action plans a change, which is run after the confirmation that
//     the profile requires. The result is a notice on standard error; Created prints
//     the new ID, or with --json the object, to standard output.
//   - command.Each: a change of all objects named by the arguments. It returns a PartialError
//     if it fails for some.
//   - command.With: the action receives the session, to use the settings or the terminal.
//
// A resource declares its columns once, in an output.Table or records.Listing: those that
// programs get, and a view for terminals, with the title, fields, formatter and rank of each
// column. Flags for frequent conditions are a table in records/conditions.go.
//
// Usage errors are created by cmdline.Usagef.
package main
