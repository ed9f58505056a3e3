package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// serviceCommands returns the commands about the service itself.
func serviceCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name:        "settings",
			Aliases:     []string{"setting"},
			Usage:       "list the service's settings",
			Subcommands: []*cli.Command{settingsListCommand()},
		},
		{
			Name:   "info",
			Usage:  "show the service's version, features and limits",
			Flags:  output.Flags(),
			Action: command.Reads(showInfo),
		},
		{
			Name:   "stats",
			Usage:  "show webhook delivery statistics",
			Action: command.Reads(showStats),
			Flags:  append(output.Flags(), statsFlags()...),
			Description: `whctl stats
whctl stats --queues --window 15m`,
		},
	}
}

func settingsListCommand() *cli.Command {
	table := output.Table{Columns: serviceSettingColumns}
	return &cli.Command{
		Name:   "list",
		Usage:  "list the service's settings",
		Flags:  output.Flags(),
		Action: command.ShowsAll(table, (*client.Client).Settings),
	}
}

func statsFlags() []cli.Flag {
	return []cli.Flag{
		command.KeyFlag(),
		&cli.DurationFlag{
			Name:  "window",
			Usage: "statistics of the last `DURATION`, from 1m to 24h",
			Value: time.Hour,
		},
		&cli.BoolFlag{
			Name:    "queues",
			Aliases: []string{"lanes"},
			Usage:   "list the queues of the subscriptions, those with problems first",
		},
	}
}

var serviceSettingColumns = []output.Column{
	{Name: "Name", Type: record.Text},
	{Name: "Value", Type: record.Text},
	{Name: "Default", Type: record.Text},
	{Name: "Origin", Type: record.Text},
	{Name: "Kind", Type: record.Text},
	{Name: "Help", Type: record.Text},
}

// valueColumn is a column of a table with a single row, which shows a document.
type valueColumn[T any] struct {
	name      string
	fieldType record.Type
	value     func(document T) any // returns nil for an empty cell
}

// rowOf returns the columns of a document and their values.
func rowOf[T any](columns []valueColumn[T], document T) (shown []output.Column, values []any) {
	for _, c := range columns {
		shown = append(shown, output.Column{Name: c.name, Type: c.fieldType})
		values = append(values, c.value(document))
	}
	return shown, values
}

// infoColumns are the columns of whctl info after the URL. Zero is no limit.
var infoColumns = []valueColumn[*wire.Info]{
	{"Version", record.Text, func(i *wire.Info) any { return i.Version }},
	{"ServerTime", record.Text, func(i *wire.Info) any { return i.ServerTime }},
	{"Features", record.Text, func(i *wire.Info) any { return strings.Join(i.Features, " ") }},
	{"MaxTake", record.Long, func(i *wire.Info) any { return command.NilIfZero(i.Limits.MaxTake) }},
	{"MaxIn", record.Long, func(i *wire.Info) any { return i.Limits.MaxIn }},
	{"MaxBody", record.Long, func(i *wire.Info) any { return i.Limits.MaxBody }},
	{"MaxEventBody", record.Long, func(i *wire.Info) any { return command.NilIfZero(i.Limits.MaxEventBody) }},
	{"MaxHead", record.Long, func(i *wire.Info) any { return i.Limits.MaxHead }},
	{"MaxStreams", record.Long, func(i *wire.Info) any { return command.NilIfZero(i.Limits.MaxStreams) }},
}

// showInfo runs whctl info.
func showInfo(c *cli.Context, out *output.Printer, service *client.Client) error {
	info, err := service.Info(c.Context)
	if err != nil {
		return err
	}
	shown, values := rowOf(infoColumns, info)
	columns := append([]output.Column{{Name: "URL", Type: record.Text}}, shown...)
	line := append([]any{service.URL()}, values...)
	_, err = out.Lines(columns, [][]any{line})
	return err
}

// statsColumns are the statistics of all deliveries.
var statsColumns = []valueColumn[*wire.Stats]{
	{"ServerDateTime", record.Epoch, func(s *wire.Stats) any { return s.ServerDateTime }},
	{"SinceDateTime", record.Epoch, func(s *wire.Stats) any {
		return command.NilIfZero(s.SinceDateTime)
	}},
	{"Window", record.TimeSpan, func(s *wire.Stats) any { return s.Window }},
	{"Events", record.Long, func(s *wire.Stats) any { return s.Totals.Events }},
	{"Messages", record.Long, func(s *wire.Stats) any { return s.Totals.Messages }},
	{"Delivered", record.Long, func(s *wire.Stats) any { return s.Totals.Delivered }},
	{"Failed", record.Long, func(s *wire.Stats) any { return s.Totals.Failed }},
	{"GivenUp", record.Long, func(s *wire.Stats) any { return s.Totals.GivenUp }},
	{"SuccessRate", record.Decimal, successRate},
	{"P50", record.TimeSpan, func(s *wire.Stats) any { return command.NilIfZero(s.Latency.P50) }},
	{"P95", record.TimeSpan, func(s *wire.Stats) any { return command.NilIfZero(s.Latency.P95) }},
	{"P99", record.TimeSpan, func(s *wire.Stats) any { return command.NilIfZero(s.Latency.P99) }},
	{"NotSent", record.Long, fromDepth(func(d *wire.Depth) any { return d.NotSent })},
	{"RetryPending", record.Long, fromDepth(func(d *wire.Depth) any { return d.RetryPending })},
	{"OldestDateTime", record.Epoch, fromDepth(func(d *wire.Depth) any {
		return command.NilIfZero(d.OldestDateTime)
	})},
	{"InFlight", record.Int, func(s *wire.Stats) any { return s.InHand.InFlight }},
	{"OpenBreakers", record.Int, func(s *wire.Stats) any { return s.InHand.OpenBreakers }},
	{"Subscriptions", record.Int, func(s *wire.Stats) any { return s.Subscriptions }},
	{"Disabled", record.Int, func(s *wire.Stats) any { return s.Disabled }},
	{"Daemons", record.Int, func(s *wire.Stats) any { return s.Daemons }},
	{"DepthMessage", record.Text, func(s *wire.Stats) any { return command.NilIfZero(s.DepthMessage) }},
}

func successRate(s *wire.Stats) any {
	if s.SuccessRate == nil {
		return nil
	}
	return *s.SuccessRate
}

// fromDepth returns a function for a value about the messages that wait. It is nil until they are
// counted: their number is not known, rather than zero.
func fromDepth(value func(*wire.Depth) any) func(*wire.Stats) any {
	return func(s *wire.Stats) any {
		if s.Depth == nil {
			return nil
		}
		return value(s.Depth)
	}
}

var queueTable = output.Table{
	Columns: []output.Column{
		{Name: "SubscriberName", Type: record.Text},
		{Name: "EventName", Type: record.Text},
		{Name: "URL", Type: record.Text},
		{Name: "Breaker", Type: record.Text},
		{Name: "Pending", Type: record.Long},
		{Name: "Delivered", Type: record.Long},
		{Name: "Failed", Type: record.Long},
		{Name: "GivenUp", Type: record.Long},
		{Name: "P99", Type: record.TimeSpan},
		{Name: "IsEnabled", Type: record.Bool},
		{Name: "DisabledReason", Type: record.Text},
		{Name: "FailingSince", Type: record.Epoch},
		{Name: "OldestDateTime", Type: record.Epoch},
		{Name: "SubscriptionID", Type: record.Text},
		{Name: "SubscriberID", Type: record.Text},
		{Name: "SinceDateTime", Type: record.Epoch},
		{Name: "MaxPerMinute", Type: record.Int},
		{Name: "RateUntilDateTime", Type: record.Epoch},
	},
	View: []output.ViewColumn{
		{Title: "Breaker", Fields: "Breaker", As: output.State(wire.BreakerClosed)},
		{Title: "Subscriber", Fields: "SubscriberName", As: output.Words, Rank: 4},
		{Title: "Event", Fields: "EventName", As: output.Event, Rank: 2},
		{Title: "Endpoint", Fields: "URL", As: output.Endpoint},
		{Title: "Delivered", Fields: "Delivered", As: output.Count, Rank: 1},
		{Title: "Failed", Fields: "Failed", As: output.Problems},
		{Title: "Given up", Fields: "GivenUp", As: output.Problems, Rank: 3},
		{Title: "Waiting", Fields: "Pending", As: output.Count},
		{Title: "P99", Fields: "P99", As: output.Duration, Rank: 5},
		{Title: "Oldest", Fields: "OldestDateTime", As: output.Age, Rank: 6},
		{Title: "Failing since", Fields: "FailingSince", As: output.Age, Rank: 7},
		{Title: "State", Fields: "IsEnabled DisabledReason", As: output.Enabled, Rank: 8},
		{Title: "Max/min", Fields: "MaxPerMinute", As: output.Words, Rank: 9},
		{Title: "Subscription ID", Fields: "SubscriptionID", As: output.ID, Rank: 1},
		{Title: "Subscriber ID", Fields: "SubscriberID", As: output.SecretID, Rank: output.DetailOnly},
	},
}

// otherQueues describes the queues that the service leaves out.
func otherQueues(stats *wire.Stats) string {
	if stats.OtherTroubled == 0 {
		return fmt.Sprintf("%d more queues have no problems", stats.OtherQueues)
	}
	return fmt.Sprintf("%d more queues are not listed, %d of them with problems", stats.OtherQueues, stats.OtherTroubled)
}

// showStats runs whctl stats.
func showStats(c *cli.Context, out *output.Printer, service *client.Client) error {
	stats, err := service.Stats(c.Context, c.Duration("window"))
	if err != nil {
		return err
	}
	if c.Bool("queues") {
		if stats.OtherQueues > 0 {
			defer out.Notice("%s", otherQueues(stats))
		}
		return printQueues(out, stats)
	}
	if out.Draws() {
		return drawStats(out.Stdout, out.Screen, out.Terminal.Width, stats)
	}
	columns, values := rowOf(statsColumns, stats)
	row, err := output.LineRow(columns, values)
	if err != nil {
		return err
	}
	formats := output.Table{View: []output.ViewColumn{{Fields: "SuccessRate", As: output.Percent}}}
	out.One = true
	_, err = out.Rows(formats.Choose(columns), output.Each([]client.Row{row}))
	return err
}

// countedQueue is a queue with the time since when it is counted.
type countedQueue struct {
	wire.Queue
	SinceDateTime wire.Timestamp `json:",omitzero"`
}

// printQueues prints the queues. On a terminal, a notice has the time since when they are counted.
func printQueues(out *output.Printer, stats *wire.Stats) error {
	var queues []countedQueue
	for _, queue := range stats.Queues {
		queues = append(queues, countedQueue{Queue: queue, SinceDateTime: stats.SinceDateTime})
	}
	if text := countedSince(out.Screen, stats); text != "" && out.OnScreen() {
		defer out.Notice("counted since %s", text)
	}
	return output.Documents(out, queueTable, queues...)
}

// countedSince returns the time since when the service counts; empty if it is not known.
func countedSince(s output.Screen, stats *wire.Stats) string {
	since := time.Time(stats.SinceDateTime)
	if since.IsZero() {
		return ""
	}
	age := display.Age(time.Time(stats.ServerDateTime).Sub(since))
	return since.In(s.Zone).Format("2006-01-02 15:04 MST") + " (" + age + " ago)"
}
