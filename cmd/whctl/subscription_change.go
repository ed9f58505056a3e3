package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// subscriptionChangeFlags are what can be changed of a subscription. Its address
// is not called url, which is that of the service in every command.
func subscriptionChangeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "to", Usage: "send to the address `URL`"},
		&cli.StringFlag{Name: "event", Usage: "send events like `PATTERN`, such as salesorder.*"},
		&cli.StringSliceFlag{Name: "header", Usage: "send `\"NAME: VALUE\"` with each message, repeated, in place of all headers that it has; VALUE may be @FILE"},
		&cli.BoolFlag{Name: "no-headers", Usage: "send no headers of its own any more"},
		&cli.BoolFlag{Name: "ordered", Usage: "wait for each message to arrive before the next; --ordered=false does not"},
		&cli.StringFlag{Name: "retry-schedule", Usage: "`WAITS` between attempts, such as 5s,30s,2m; empty for the service's"},
	}
}

// changeSubscription is whctl subscriptions change.
func (p *program) changeSubscription(c *cli.Context) error {
	request, err := p.subscriptionChange(c)
	if err != nil {
		return err
	}
	service, n, err := p.subscriptionToChange(c, c.Args().First(), "change")
	if err != nil {
		return err
	}
	defer service.Close()
	changed, err := service.UpdateSubscription(c.Context, n.subscriber, n.id, request)
	if err != nil {
		return err
	}
	p.notice(c, "%s goes to %s%s", changed.EventName, changed.URL, unlessEnabled(changed.IsEnabled))
	return nil
}

// subscriptionChange reads the flags. What none of them names stays as it is.
func (p *program) subscriptionChange(c *cli.Context) (request wire.SubscriptionRequest, err error) {
	for name, member := range map[string]**string{"to": &request.URL, "event": &request.EventName, "retry-schedule": &request.RetrySchedule} {
		if c.IsSet(name) {
			*member = new(c.String(name))
		}
	}
	if c.IsSet("ordered") {
		request.Ordered = new(c.Bool("ordered"))
	}
	if request.Headers, err = p.headers(c.StringSlice("header")); err != nil {
		return request, err
	}
	switch {
	case c.Bool("no-headers") && request.Headers != nil:
		err = cmdline.Usagef("--header and --no-headers exclude each other")
	case c.Bool("no-headers"):
		request.Headers = new([]wire.Header{})
	case !anySet(c, subscriptionChangeFlags()):
		err = cmdline.Usagef("what is to be changed? Give --to, --event, --header, --no-headers, --ordered or --retry-schedule")
	}
	return request, err
}
