package main

import (
	"slices"

	"github.com/urfave/cli/v2"
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
