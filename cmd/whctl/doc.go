// Command whctl asks the service for records, from a terminal or a script.
//
// The program reads from top to bottom: main hands arguments, environment and
// streams to run; cmd/internal/cli puts the command line in order and runs one
// command of the table (commands.go). A command reads its flags, connects
// (connect.go) and prints rows (print.go), and gives an error that the table of
// exit codes (exit.go) sorts.
//
// To add a noun, write one file with its name and a table of its commands,
//
//	func (p *program) subscriberCommands() []*cli.Command {
//		return []*cli.Command{{
//			Name: "subscribers", Aliases: []string{"subscriber"}, Usage: "manage who receives events",
//			Subcommands: []*cli.Command{
//				{Name: "list", Usage: "list the subscribers", Flags: outputFlags(), Action: p.listSubscribers},
//				{Name: "delete", ArgsUsage: "SUBSCRIBER...", Usage: "delete subscribers", Flags: changeFlags(), Action: p.deleteSubscribers},
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
// A command that reads calls connect, then show or printRows. One that changes
// something calls connectToChange, which asks for what the profile demands; a
// client made by connect refuses to send changes where the profile is read-only
// or protected. It tells what happened by notice, on standard error, and prints
// the new id, or with --json the object, on standard output. Mistakes of the
// user are made by usagef. A change of many things that did not succeed for all
// ends with a partialError.
package main
