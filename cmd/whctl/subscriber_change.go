package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// changeSubscriber is whctl subscribers change.
func (p *program) changeSubscriber(c *cli.Context) error {
	old, name := c.Args().First(), c.String("name")
	if name == "" {
		return cmdline.Usagef("what is to be changed? Give --name")
	}
	service, err := p.connectToChange(c, change{what: "change the subscriber " + subscriberTitle(old)})
	if err != nil {
		return err
	}
	defer service.Close()
	id, err := findSubscriber(c.Context, service, old)
	if err != nil {
		return err
	}
	changed, err := service.UpdateSubscriber(c.Context, id, wire.SubscriberRequest{Name: &name})
	if err != nil {
		return err
	}
	p.notice(c, "subscriber %s is called %s", subscriberTitle(old), quoted(changed.Name))
	return nil
}
