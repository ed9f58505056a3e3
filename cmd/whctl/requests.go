package main

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/listen"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/records"
)

func requestCommands() []*cli.Command {
	return []*cli.Command{{
		Name:    "requests",
		Aliases: []string{"request"},
		Usage:   "list and follow logged requests",
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "list logged requests, newest first",
				Flags: append(records.ListFlags(command.SystemKind("RequestLog"), requestExamples),
					errorsFlag(),
					&cli.StringFlag{
						Name: "client",
						Usage: "only requests of this `CLIENT`: a user, the name of an API key, " +
							"or an IP address",
					}),
				Action: records.Lists(listRequests),
				Description: `whctl requests list --errors --take 20
whctl requests list --since 1h --status 5xx
whctl requests list --client nightly --since 1h
whctl requests list --where "PathInfo^=/Webhooks"`,
			},
			{
				Name:   "tail",
				Usage:  "follow requests live",
				Flags:  append(records.TailFlags(), errorsFlag()),
				Action: command.With(tailRequests),
			},
		},
	}}
}

// requestExamples are the examples for requests.
var requestExamples = records.ConditionExamples{
	Where: "StatusCode>=500",
	Json:  `{"StatusCodeGreaterThanOrEqualTo":500}`,
}

func errorsFlag() cli.Flag {
	return &cli.BoolFlag{Name: "errors", Usage: "only requests that failed (status 400 and above)"}
}

// requestView has the columns on a terminal.
var requestView = []output.ViewColumn{
	{Title: "Time", Fields: "DateTime", As: output.Local},
	{Title: "Status", Fields: "StatusCode", As: output.HTTPStatus},
	{Title: "Method", Fields: "HttpMethod", As: output.Whole},
	{Title: "Path", Fields: "PathInfo", As: output.Words},
	{Title: "Took", Fields: "RequestDuration", As: output.Duration, Rank: 1},
	{Title: "User", Fields: "UserAuthId", As: output.Words, Rank: 2},
	{Title: "Address", Fields: "IpAddress", As: output.Words, Rank: 3},
}

// firstError is the lowest HTTP status code of an error.
const firstError = 400

// listRequests runs whctl requests list.
func listRequests(c *cli.Context, _ *command.Session) (records.Listing, error) {
	l := records.Listing{
		Kind: command.SystemKind("RequestLog"),
		Brief: []string{
			"DateTime", "StatusCode", "HttpMethod", "PathInfo", "RequestDuration", "UserAuthId",
			"IpAddress",
		},
		View: requestView,
	}
	if c.Bool("errors") {
		l.Where = []client.Filter{{
			Field:    "StatusCode",
			Operator: record.GreaterThanOrEqualTo,
			Values:   []string{fmt.Sprint(firstError)},
		}}
	}
	if text := c.String("client"); text != "" {
		field := "UserAuthId"
		if _, err := netip.ParseAddr(text); err == nil {
			field = "IpAddress"
		}
		l.Where = append(l.Where, client.Filter{Field: field, Values: []string{text}})
	}
	return l, nil
}

var answeredColumns = []output.Column{
	{Name: "At", Type: record.Epoch},
	{Name: "Method", Type: record.Text},
	{Name: "PathInfo", Type: record.Text},
	{Name: "StatusCode", Type: record.Int},
	{Name: "DurationMilliseconds", Type: record.Decimal},
	{Name: "UserName", Type: record.Text},
	{Name: "RequestID", Type: record.Text},
}

// tailRequests runs whctl requests tail.
func tailRequests(c *cli.Context, s *command.Session) error {
	return records.Tail(c, s, records.LiveStream{
		Topic: wire.TopicRequests,
		Table: output.Table{Columns: answeredColumns},
		Open: func(*client.Client) (records.FormatEvent, error) {
			return func(e client.StreamEvent) (document any, line string) {
				r, ok := e.(client.RequestEvent)
				isSkipped := c.Bool("errors") && r.StatusCode < firstError
				if !ok || isSkipped {
					return nil, ""
				}
				return r.HandledRequest, requestLine(r.HandledRequest, s.Zone())
			}, nil
		},
	})
}

// requestLine formats a request as a line of text.
func requestLine(r wire.HandledRequest, zone *time.Location) string {
	duration := time.Duration(r.DurationMilliseconds * float64(time.Millisecond))
	return fmt.Sprintf("%s  %d  %-6s %s  %s  %s", listen.Clock(r.At, zone),
		r.StatusCode, r.Method, r.PathInfo, duration.Round(10*time.Microsecond), r.UserName)
}
