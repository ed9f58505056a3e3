package webhooks

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
)

func subscriberFlag() cli.Flag {
	return &cli.StringFlag{
		Name:  "subscriber",
		Usage: "the subscription's `SUBSCRIBER`, by ID or name; the full ID grants access without a role",
	}
}

// subscriptionCreateFlags returns the flags of whctl subscriptions create.
func subscriptionCreateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{
			Name: "header",
			Usage: "send `\"NAME: VALUE\"` with each message, repeatable; VALUE can be @FILE, " +
				"which keeps secrets off the command line",
		},
		&cli.BoolFlag{Name: "ordered", Usage: "deliver messages strictly in order, one at a time"},
		orderFlag,
		&cli.StringFlag{
			Name:  "retry-schedule",
			Usage: "`DURATIONS` between attempts, such as 5s,30s,2m; default: the service's schedule",
		},
		rateFlag,
		cloudEventsFlag,
		whenFlag("send only events that meet `CONDITION`, such as \"Status: 1 -> 2\" or " +
			"\"CreditLimit > 1000\", repeatable"),
		&cli.BoolFlag{Name: "disabled", Usage: "start with delivery paused; messages are queued"},
		command.SecretFileFlag(),
	}
}

// subscriptionUpdateFlags returns the flags of whctl subscriptions update. The target is
// --to, because --url is the address of the service in every command.
func subscriptionUpdateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "to", Usage: "the new target `URL`"},
		&cli.StringFlag{Name: "event", Usage: "send events that match `PATTERN`, such as salesorder.*"},
		&cli.StringSliceFlag{
			Name: "header",
			Usage: "send `\"NAME: VALUE\"` with each message, repeatable; replaces all present headers; " +
				"VALUE can be @FILE",
		},
		&cli.BoolFlag{Name: "no-headers", Usage: "remove all custom headers"},
		&cli.BoolFlag{
			Name:  "ordered",
			Usage: "deliver messages strictly in order, one at a time; --ordered=false turns it off",
		},
		orderFlag,
		&cli.StringFlag{
			Name:  "retry-schedule",
			Usage: "`DURATIONS` between attempts, such as 5s,30s,2m; empty: the service's schedule",
		},
		rateFlag,
		cloudEventsFlag,
		whenFlag("send only events that meet `CONDITION`, such as \"Status: 1 -> 2\", repeatable; " +
			"replaces all present conditions"),
		&cli.BoolFlag{Name: "no-conditions", Usage: "send all events, without conditions"},
	}
}

func whenFlag(usage string) cli.Flag { return &cli.StringSliceFlag{Name: "when", Usage: usage} }

// readWhen reads --when for events that match a pattern; nil if the flag is not set.
func readWhen(c *cli.Context, service *client.Client, pattern string) (json.RawMessage, error) {
	lines := c.StringSlice("when")
	if len(lines) == 0 {
		return nil, nil
	}
	reader, err := filter.NewWhereReader(c.Context, service, pattern)
	if err != nil {
		return nil, err
	}
	where, err := reader.Where(lines)
	if err != nil {
		return nil, cmdline.Usagef("--when %v", err)
	}
	return where, nil
}

// checkUpdate returns an error if the flags of whctl subscriptions update contradict each other, or
// change nothing.
func checkUpdate(c *cli.Context) error {
	if c.Bool("no-headers") && len(c.StringSlice("header")) > 0 {
		return cmdline.Usagef("--header and --no-headers cannot be combined")
	}
	if c.Bool("no-conditions") && c.IsSet("when") {
		return cmdline.Usagef("--when and --no-conditions cannot be combined")
	}
	if command.AnySet(c, subscriptionUpdateFlags()) {
		return nil
	}
	if c.IsSet("url") {
		return cmdline.Usagef("nothing to update; --url is the address of the service, and " +
			"--to is the URL of the subscription")
	}
	return cmdline.Usagef("nothing to update; give --to, --event, --header, --no-headers, " +
		"--ordered, --order, --retry-schedule, --max-per-minute, --cloudevents, --when or --no-conditions")
}

// whenOf reads --when for the new or the present event of a subscription.
func whenOf(
	c *cli.Context, service *client.Client, ref subscriptionRef, newEvent *string,
) (json.RawMessage, error) {
	if newEvent != nil {
		return readWhen(c, service, *newEvent)
	}
	present, err := subscriptionOf(c.Context, service, ref)
	if err != nil {
		return nil, err
	}
	return readWhen(c, service, present.EventName)
}

// orderFlag selects the order of a subscription's messages. --ordered is short for one of them.
var orderFlag = &cli.StringFlag{
	Name: "order",
	Usage: "`ORDER` of delivery: none, subscription (the same as --ordered), " +
		"or key: in order for each key of events",
}

// readOrder reads --ordered and --order.
func readOrder(c *cli.Context, request *wire.SubscriptionRequest) {
	if c.IsSet("ordered") {
		request.Ordered = new(c.Bool("ordered"))
	}
	if c.IsSet(orderFlag.Name) {
		request.OrderBy = new(c.String(orderFlag.Name))
	}
}

// rateFlag limits the attempts of a subscription.
var rateFlag = &cli.IntFlag{
	Name:  "max-per-minute",
	Usage: "start at most `N` attempts a minute, retries included; 0: the service's limit",
}

// readRate reads --max-per-minute.
func readRate(c *cli.Context, request *wire.SubscriptionRequest) {
	if c.IsSet(rateFlag.Name) {
		request.MaxPerMinute = new(c.Int(rateFlag.Name))
	}
}

// cloudEventsFlag selects the format of messages. It is no --format, which is that of the output.
var cloudEventsFlag = &cli.BoolFlag{
	Name:  "cloudevents",
	Usage: "add the headers of CloudEvents 1.0 to each message; --cloudevents=false leaves them out",
}

// readCloudEvents reads --cloudevents.
func readCloudEvents(c *cli.Context, request *wire.SubscriptionRequest) {
	if !c.IsSet(cloudEventsFlag.Name) {
		return
	}
	request.Format = new("")
	if c.Bool(cloudEventsFlag.Name) {
		request.Format = new(wire.FormatCloudEvents)
	}
}

// readHeaders reads --header; nil if the flag is not set.
func readHeaders(c *cli.Context) (*[]wire.Header, error) {
	var headers []wire.Header
	for _, text := range c.StringSlice("header") {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			// The text is not repeated, because it may be a secret.
			return nil, cmdline.Usagef(`--header must be like "X-Tenant: 7"`)
		}
		value, err := command.Argument(c, strings.TrimSpace(value))
		if err != nil {
			return nil, cmdline.Usagef("--header %s: %s", name, err)
		}
		headers = append(headers, wire.Header{
			Name:  strings.TrimSpace(name),
			Value: strings.TrimRight(value, "\r\n"),
		})
	}
	if headers == nil {
		return nil, nil
	}
	return &headers, nil
}

// memberFlags are the flags for members of subscriptions and secrets in errors of the service.
var memberFlags = map[string]string{
	"KeepFor":       "--keep-for",
	"RetrySchedule": "--retry-schedule",
	"OrderBy":       "--order",
	"MaxPerMinute":  "--max-per-minute",
	"Format":        "--cloudevents",
}

// withFlags names the flags instead of the members in an error of the service.
func withFlags(err error) error {
	reply, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	for member, flag := range memberFlags {
		reply.Message = strings.ReplaceAll(reply.Message, member+"=", flag+" ")
		if strings.HasPrefix(reply.Message, member+" ") {
			reply.Message = flag + reply.Message[len(member):]
		}
		for i := range reply.Fields {
			if reply.Fields[i].FieldName == member {
				reply.Fields[i].FieldName = flag
			}
		}
	}
	return err
}
