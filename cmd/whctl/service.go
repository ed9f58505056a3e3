package main

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// serviceCommands are those about the service itself.
func (p *program) serviceCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "settings", Aliases: []string{"setting"}, Usage: "see the service's settings",
			Subcommands: []*cli.Command{
				{Name: "list", Usage: "list the settings that may change", Flags: outputFlags(), Action: p.listServiceSettings},
			},
		},
		{Name: "info", Usage: "show the service's version, features and limits", Flags: outputFlags(), Action: p.showInfo},
		{
			Name: "stats", Usage: "show how the delivery of webhooks goes", Action: p.showStats,
			Flags: append(outputFlags(), keyFlag(),
				&cli.DurationFlag{Name: "window", Usage: "of the last `DURATION`, from 1m to 24h", Value: time.Hour},
				&cli.BoolFlag{Name: "lanes", Usage: "list the subscriptions, the worst first"}),
			Description: `whctl stats
whctl stats --lanes --window 15m`,
		},
	}
}

var serviceSettingColumns = []column{
	{"Name", record.Text}, {"Value", record.Text}, {"Default", record.Text}, {"Origin", record.Text}, {"Kind", record.Text}, {"Help", record.Text},
}

func (p *program) listServiceSettings(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	settings, err := service.Settings(c.Context)
	if err != nil {
		return err
	}
	return showDocuments(p, c, serviceSettingColumns, nil, settings...)
}

var infoColumns = []column{
	{"URL", record.Text}, {"Version", record.Text}, {"ServerTime", record.Text}, {"Features", record.Text},
	{"MaxTake", record.Long}, {"MaxIn", record.Long}, {"MaxBody", record.Long}, {"MaxEventBody", record.Long}, {"MaxHead", record.Long}, {"MaxStreams", record.Long},
}

func (p *program) showInfo(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	info, err := service.Info(c.Context)
	if err != nil {
		return err
	}
	l := info.Limits
	_, err = p.show(c, infoColumns, [][]any{{
		service.URL(), info.Version, info.ServerTime, strings.Join(info.Features, " "),
		nilIfZero(l.MaxTake), l.MaxIn, l.MaxBody, nilIfZero(l.MaxEventBody), l.MaxHead, nilIfZero(l.MaxStreams),
	}})
	return err
}

// nilIfZero is the null that an absent number stands for.
func nilIfZero[T comparable](n T) any {
	var zero T
	if n == zero {
		return nil
	}
	return n
}

var (
	statsColumns = []column{
		{"ServerDateTime", record.Epoch}, {"Window", record.TimeSpan}, {"Events", record.Long}, {"Messages", record.Long}, {"Delivered", record.Long}, {"Failed", record.Long}, {"GivenUp", record.Long},
		{"SuccessRate", record.Decimal}, {"P50", record.TimeSpan}, {"P95", record.TimeSpan}, {"P99", record.TimeSpan}, {"NotSent", record.Long}, {"RetryPending", record.Long},
		{"OldestDateTime", record.Epoch}, {"InFlight", record.Int}, {"OpenBreakers", record.Int}, {"Subscriptions", record.Int}, {"Disabled", record.Int}, {"Daemons", record.Int},
	}
	laneColumns = []column{
		{"SubscriberName", record.Text}, {"EventName", record.Text}, {"URL", record.Text}, {"Breaker", record.Text}, {"Pending", record.Long}, {"Delivered", record.Long}, {"Failed", record.Long}, {"GivenUp", record.Long},
		{"P99", record.TimeSpan}, {"IsEnabled", record.Bool}, {"DisabledReason", record.Text}, {"FailingSince", record.Epoch}, {"OldestDateTime", record.Epoch}, {"SubscriptionID", record.Text}, {"SubscriberID", record.Text},
	}
)

func (p *program) showStats(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	stats, err := service.Stats(c.Context, c.Duration("window"))
	if err != nil {
		return err
	}
	if c.Bool("lanes") {
		if stats.OtherLanes > 0 {
			defer p.notice(c, "%d subscriptions more are in no trouble", stats.OtherLanes)
		}
		return showDocuments(p, c, laneColumns, messageKeys, stats.Lanes...)
	}
	_, err = p.show(c, statsColumns, [][]any{statsLine(stats)})
	return err
}

// statsLine is the figures of all deliveries in one line.
func statsLine(s *wire.Stats) []any {
	depth := wire.Depth{}
	if s.Depth != nil {
		depth = *s.Depth
	}
	rate := any(nil)
	if s.SuccessRate != nil {
		rate = *s.SuccessRate
	}
	return []any{
		s.ServerDateTime, s.Window, s.Totals.Events, s.Totals.Messages, s.Totals.Delivered, s.Totals.Failed, s.Totals.GivenUp,
		rate, nilIfZero(s.Latency.P50), nilIfZero(s.Latency.P95), nilIfZero(s.Latency.P99), depth.NotSent, depth.RetryPending,
		nilIfZero(depth.OldestDateTime), s.InHand.InFlight, s.InHand.OpenBreakers, s.Subscriptions, s.Disabled, s.Daemons,
	}
}
