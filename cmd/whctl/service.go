package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// serviceCommands returns the commands about the service itself.
func serviceCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "settings", Aliases: []string{"setting"}, Usage: "list the service's settings",
			Subcommands: []*cli.Command{
				{Name: "list", Usage: "list the service's settings", Flags: output.Flags(), Action: command.ShowsAll(output.Table{Columns: serviceSettingColumns}, (*client.Client).Settings)},
			},
		},
		{Name: "info", Usage: "show the service's version, features and limits", Flags: output.Flags(), Action: command.Reads(showInfo)},
		{
			Name: "stats", Usage: "show webhook delivery statistics", Action: command.Reads(showStats),
			Flags: append(output.Flags(), command.KeyFlag(),
				&cli.DurationFlag{Name: "window", Usage: "statistics of the last `DURATION`, from 1m to 24h", Value: time.Hour},
				&cli.BoolFlag{Name: "queues", Aliases: []string{"lanes"}, Usage: "list the queues of the subscriptions, those with problems first"}),
			Description: `whctl stats
whctl stats --queues --window 15m`,
		},
	}
}

var serviceSettingColumns = []output.Column{
	{Name: "Name", Type: record.Text}, {Name: "Value", Type: record.Text}, {Name: "Default", Type: record.Text}, {Name: "Origin", Type: record.Text}, {Name: "Kind", Type: record.Text}, {Name: "Help", Type: record.Text},
}

var infoColumns = []output.Column{
	{Name: "URL", Type: record.Text}, {Name: "Version", Type: record.Text}, {Name: "ServerTime", Type: record.Text}, {Name: "Features", Type: record.Text},
	{Name: "MaxTake", Type: record.Long}, {Name: "MaxIn", Type: record.Long}, {Name: "MaxBody", Type: record.Long}, {Name: "MaxEventBody", Type: record.Long}, {Name: "MaxHead", Type: record.Long}, {Name: "MaxStreams", Type: record.Long},
}

func showInfo(c *cli.Context, out *output.Printer, service *client.Client) error {
	info, err := service.Info(c.Context)
	if err != nil {
		return err
	}
	l := info.Limits
	_, err = out.Lines(infoColumns, [][]any{{
		service.URL(), info.Version, info.ServerTime, strings.Join(info.Features, " "),
		command.NilIfZero(l.MaxTake), l.MaxIn, l.MaxBody, command.NilIfZero(l.MaxEventBody), l.MaxHead, command.NilIfZero(l.MaxStreams),
	}})
	return err
}

var (
	statsColumns = []output.Column{
		{Name: "ServerDateTime", Type: record.Epoch}, {Name: "Window", Type: record.TimeSpan}, {Name: "Events", Type: record.Long}, {Name: "Messages", Type: record.Long}, {Name: "Delivered", Type: record.Long}, {Name: "Failed", Type: record.Long}, {Name: "GivenUp", Type: record.Long},
		{Name: "SuccessRate", Type: record.Decimal}, {Name: "P50", Type: record.TimeSpan}, {Name: "P95", Type: record.TimeSpan}, {Name: "P99", Type: record.TimeSpan}, {Name: "NotSent", Type: record.Long}, {Name: "RetryPending", Type: record.Long},
		{Name: "OldestDateTime", Type: record.Epoch}, {Name: "InFlight", Type: record.Int}, {Name: "OpenBreakers", Type: record.Int}, {Name: "Subscriptions", Type: record.Int}, {Name: "Disabled", Type: record.Int}, {Name: "Daemons", Type: record.Int},
	}
	queueTable = output.Table{Columns: []output.Column{
		{Name: "SubscriberName", Type: record.Text}, {Name: "EventName", Type: record.Text}, {Name: "URL", Type: record.Text}, {Name: "Breaker", Type: record.Text}, {Name: "Pending", Type: record.Long}, {Name: "Delivered", Type: record.Long}, {Name: "Failed", Type: record.Long}, {Name: "GivenUp", Type: record.Long},
		{Name: "P99", Type: record.TimeSpan}, {Name: "IsEnabled", Type: record.Bool}, {Name: "DisabledReason", Type: record.Text}, {Name: "FailingSince", Type: record.Epoch}, {Name: "OldestDateTime", Type: record.Epoch}, {Name: "SubscriptionID", Type: record.Text}, {Name: "SubscriberID", Type: record.Text},
	}, View: []output.ViewColumn{
		{Title: "Breaker", Fields: "Breaker", As: output.State(wire.BreakerClosed)}, {Title: "Subscriber", Fields: "SubscriberName", As: output.Words, Rank: 4}, {Title: "Event", Fields: "EventName", As: output.Words, Rank: 2}, {Title: "Endpoint", Fields: "URL", As: output.Endpoint},
		{Title: "Delivered", Fields: "Delivered", As: output.Count, Rank: 1}, {Title: "Failed", Fields: "Failed", As: output.Problems}, {Title: "Given up", Fields: "GivenUp", As: output.Problems, Rank: 3}, {Title: "Waiting", Fields: "Pending", As: output.Count},
		{Title: "P99", Fields: "P99", As: output.Duration, Rank: 5}, {Title: "Oldest", Fields: "OldestDateTime", As: output.Age, Rank: 6}, {Title: "Failing since", Fields: "FailingSince", As: output.Age, Rank: 7},
		{Title: "State", Fields: "IsEnabled DisabledReason", As: output.Enabled, Rank: 8}, {Title: "Subscription ID", Fields: "SubscriptionID", As: output.ID, Rank: 1}, {Title: "Subscriber ID", Fields: "SubscriberID", As: output.SecretID, Rank: output.DetailOnly},
	}}
)

func showStats(c *cli.Context, out *output.Printer, service *client.Client) error {
	stats, err := service.Stats(c.Context, c.Duration("window"))
	if err != nil {
		return err
	}
	if c.Bool("queues") {
		if stats.OtherQueues > 0 {
			defer out.Notice("%d more queues have no problems", stats.OtherQueues)
		}
		return output.Documents(out, queueTable, stats.Queues...)
	}
	if out.Draws() {
		return drawStats(out.Stdout, out.Screen, out.Terminal.Width, stats)
	}
	row, err := output.LineRow(statsColumns, statsLine(stats))
	if err != nil {
		return err
	}
	t := output.Table{View: []output.ViewColumn{{Fields: "SuccessRate", As: output.Percent}}}
	out.One = true
	_, err = out.Rows(t.Of(statsColumns), output.Each([]client.Row{row}))
	return err
}

// statsLine returns the statistics of all deliveries as one row.
func statsLine(s *wire.Stats) []any {
	depth := cmp.Or(s.Depth, new(wire.Depth))
	rate := any(nil)
	if s.SuccessRate != nil {
		rate = *s.SuccessRate
	}
	return []any{
		s.ServerDateTime, s.Window, s.Totals.Events, s.Totals.Messages, s.Totals.Delivered,
		s.Totals.Failed, s.Totals.GivenUp,
		rate, command.NilIfZero(s.Latency.P50), command.NilIfZero(s.Latency.P95),
		command.NilIfZero(s.Latency.P99), depth.NotSent, depth.RetryPending,
		command.NilIfZero(depth.OldestDateTime), s.InHand.InFlight, s.InHand.OpenBreakers,
		s.Subscriptions, s.Disabled, s.Daemons,
	}
}
