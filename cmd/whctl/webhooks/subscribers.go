package webhooks

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/records"
)

// enabledExamples are the examples for subscribers and subscriptions.
var enabledExamples = records.ConditionExamples{
	Where: "IsEnabled=false",
	Json:  `{"IsEnabled":false}`,
}

// SubscriberCommands returns the commands on subscribers.
func SubscriberCommands() []*cli.Command {
	return []*cli.Command{{
		Name:    "subscribers",
		Aliases: []string{"subscriber"},
		Usage:   "manage subscribers, which receive events",
		Subcommands: []*cli.Command{
			{
				Name:   "list",
				Usage:  "list subscribers",
				Flags:  append(records.ListFlags(command.SystemKind("Subscriber"), enabledExamples), command.KeyFlag()),
				Action: records.Lists(listSubscribers),
				Description: `whctl subscribers list
whctl subscribers list --status disabled`,
			},
			{
				Name:      "show",
				ArgsUsage: "SUBSCRIBER",
				Usage:     "show a subscriber; --json includes its subscriptions",
				Flags:     append(output.Flags(), command.KeyFlag()),
				Action:    command.ShowsOne(subscriberTable, showSubscriber),
			},
			{
				Name:      "create",
				ArgsUsage: "NAME",
				Usage:     "create a subscriber and print its ID",
				Action:    command.Changes(createSubscriber),
				Flags: command.NewFlags(&cli.BoolFlag{
					Name:  "disabled",
					Usage: "start with delivery paused; messages are queued",
				}),
				Description: `id=$(whctl subscribers create "ACME shop")`,
			},
			{
				Name:      "update",
				Aliases:   []string{"change"},
				ArgsUsage: "SUBSCRIBER",
				Usage:     "rename a subscriber; its ID does not change",
				Action:    command.Changes(updateSubscriber),
				Flags: append([]cli.Flag{&cli.StringFlag{
					Name:  "name",
					Usage: "the new `NAME`",
				}}, command.ChangeFlags()...),
				Description: `whctl subscribers update "ACME shop" --name "ACME online shop"`,
			},
			{
				Name:      "enable",
				ArgsUsage: "SUBSCRIBER...",
				Usage:     "resume delivery, including queued messages",
				Flags:     command.ChangeFlags(),
				Action:    enableSubscribers(true),
			},
			{
				Name:      "disable",
				ArgsUsage: "SUBSCRIBER...",
				Usage:     "pause delivery; messages stay queued",
				Flags:     command.ChangeFlags(),
				Action:    enableSubscribers(false),
			},
			{
				Name:      "delete",
				Aliases:   []string{"remove", "rm"},
				ArgsUsage: "SUBSCRIBER...",
				Usage:     "delete subscribers, their subscriptions and messages",
				Flags:     command.ChangeFlags(),
				Action: command.Each{
					Verb:     "delete",
					One:      "the subscriber",
					Many:     "subscribers",
					Also:     " with all subscriptions and messages",
					Sweeping: true,
					Do:       deleteSubscriber,
				}.Action(),
			},
		},
	}}
}

var subscriberTable = output.Table{
	Columns: output.ColumnsOf(command.SystemKind("Subscriber"), nil),
	View:    subscriberView,
}

// subscriberView has the columns on a terminal.
var subscriberView = []output.ViewColumn{
	{Title: "Name", Fields: "Name", As: output.Words},
	{Title: "State", Fields: "IsEnabled", As: output.Enabled},
	{Title: "Changed", Fields: "LastSavedDateTime", As: output.Age, Rank: 1},
	{Title: "Subscriber ID", Fields: "RecID", As: output.SecretID},
	{Title: "Number", Fields: "ItemNo", As: output.Whole, Rank: output.DetailOnly},
}

// listSubscribers describes the list of subscribers. On a terminal, each has the worst state of its
// subscriptions.
func listSubscribers(c *cli.Context, _ *command.Session) (records.Listing, error) {
	var states queueStates
	view := slices.Clone(subscriberView)
	i := slices.IndexFunc(view, func(column output.ViewColumn) bool { return column.Fields == "IsEnabled" })
	view[i].Fields = "IsEnabled RecID"
	view[i].As = output.Worst(states.ofSubscriber)
	return records.Listing{
		Kind:  command.SystemKind("Subscriber"),
		Brief: []string{"RecID", "Name", "IsEnabled", "LastSavedDateTime"},
		View:  view,
		Opened: func(service *client.Client) {
			states.connect(c.Context, service)
		},
	}, nil
}

func showSubscriber(c *cli.Context, service *client.Client) (*wire.Subscriber, error) {
	id, err := findSubscriber(c.Context, service, c.Args().First())
	if err != nil {
		return nil, err
	}
	return service.Subscriber(c.Context, id)
}

func createSubscriber(c *cli.Context, s *command.Session) (command.Change, error) {
	name := c.Args().First()
	return command.Change{
		Text: fmt.Sprintf("create the subscriber %q", name),
		Do: func(out *output.Printer, service *client.Client) error {
			created, err := service.AddSubscriber(c.Context, wire.SubscriberRequest{
				Name:      &name,
				IsEnabled: new(!c.Bool("disabled")),
			})
			if err != nil {
				return err
			}
			out.Notice("subscriber %s created%s",
				command.Quoted(created.Name), command.UnlessEnabled(created.IsEnabled))
			// The link contains the SubscriberID, which does not belong in logs.
			if created.IsEnabled && output.IsTerminal(s.Prompter.Screen) {
				noticePortal(c, out, service, created)
			}
			return out.Created(created.RecID, created)
		},
	}, nil
}

// noticePortal prints the link to the subscriber's own page, if the service has such pages. Without
// an answer of the service there is no link: the subscriber has been created.
func noticePortal(c *cli.Context, out *output.Printer, service *client.Client, created *wire.Subscriber) {
	info, err := service.Info(c.Context)
	if err != nil || !slices.Contains(info.Features, wire.FeaturePortal) {
		return
	}
	base := strings.TrimRight(cmp.Or(info.PublicURL, service.URL()), "/")
	link := base + "/Webhooks/Portal/Open?SubscriberID=" + url.QueryEscape(created.RecID)
	out.Notice("link to its own page, for the subscriber only: %s", link)
}

func updateSubscriber(c *cli.Context, _ *command.Session) (command.Change, error) {
	subscriber := c.Args().First()
	name := c.String("name")
	if name == "" {
		return command.Change{}, cmdline.Usagef("nothing to update; give --name")
	}
	return command.Change{
		Text: "update the subscriber " + subscriberTitle(subscriber),
		Do: func(out *output.Printer, service *client.Client) error {
			request := wire.SubscriberRequest{Name: &name}
			updated, err := patchSubscriber(c, service, subscriber, request)
			if err != nil {
				return err
			}
			out.Notice("subscriber %s renamed to %s",
				subscriberTitle(subscriber), command.Quoted(updated.Name))
			return nil
		},
	}, nil
}

// patchSubscriber changes the subscriber with a name or ID from the command line.
func patchSubscriber(
	c *cli.Context, service *client.Client, name string, request wire.SubscriberRequest,
) (*wire.Subscriber, error) {
	id, err := findSubscriber(c.Context, service, name)
	if err != nil {
		return nil, err
	}
	return service.UpdateSubscriber(c.Context, id, request)
}

// enableSubscribers returns the action of whctl subscribers enable and disable.
func enableSubscribers(enabled bool) cli.ActionFunc {
	verb := command.Enabling(enabled)
	return command.Each{
		Verb: verb,
		One:  "the subscriber",
		Many: "subscribers",
		Do: func(c *cli.Context, service *client.Client, name string) (string, error) {
			request := wire.SubscriberRequest{IsEnabled: &enabled}
			updated, err := patchSubscriber(c, service, name, request)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("subscriber %s %sd", command.Quoted(updated.Name), verb), nil
		},
	}.Action()
}

func deleteSubscriber(c *cli.Context, service *client.Client, name string) (string, error) {
	id, err := findSubscriber(c.Context, service, name)
	if err != nil {
		return "", err
	}
	err = service.RemoveSubscriber(c.Context, id)
	return fmt.Sprintf("subscriber %s deleted", subscriberTitle(name)), err
}

// subscriberTitle returns the text for a subscriber named on the command line: its
// name in quotes or its shortened ID.
func subscriberTitle(name string) string {
	if wholeID.MatchString(name) {
		return client.Redact(name)
	}
	return command.Quoted(name)
}
