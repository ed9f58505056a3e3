// Command whctl asks the service for records, from a terminal or a script.
//
// The program reads from top to bottom: main hands arguments, environment and
// streams to run; cmd/internal/cli puts the command line in order and runs one
// command of the table (main.go). Its action reads flags, connects and prints,
// and gives an error that the table of exit codes (exit.go) sorts.
//
// To add a noun, write one file with its name and a table of its commands,
//
//	func subscriberCommands() []*cli.Command {
//		return []*cli.Command{{
//			Name: "subscribers", Aliases: []string{"subscriber"}, Usage: "manage who receives events",
//			Subcommands: []*cli.Command{
//				{Name: "stats", Usage: "count the subscribers", Flags: output.Flags(), Action: reads(countSubscribers)},
//				{Name: "create", ArgsUsage: "NAME", Usage: "add a subscriber", Flags: newFlags(), Action: changes(createSubscriber)},
//			},
//		}}
//	}
//
// and add a line to commands. What the table says is used everywhere: ArgsUsage
// is how arguments are counted, an upper-case word each, in brackets where it
// may be left out, followed by "..." where it may be repeated; Usage, flags and
// Description, which holds examples, make up the help, the manual and the
// completion. The tests run every command of the table.
//
// An action is made by one of a few functions, which connect, and end with the
// connection (session.go, actions.go, query.go):
//
//   - reads: the command gets a client and a printer. The client refuses to send
//     changes where the profile is read-only or protected.
//   - shows and showsOne: it prints documents of the service as rows.
//   - lists: it prints the records of a kind that --where and the like select.
//   - changes: it plans a change, which is confirmed as the profile demands, and
//     then done. What happened is a notice on standard error; the new id, or with
//     --json the object, goes to standard output by Made.
//   - each: a change of all things that the arguments name. One that did not
//     succeed for all ends with a partialError.
//   - with: it gets the session, for what needs the settings or the terminal.
//
// Mistakes of the user are made by cmdline.Usagef.
package main
