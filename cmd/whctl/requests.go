package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/listen"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func requestCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "requests", Aliases: []string{"request"}, Usage: "list and follow logged requests",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list logged requests, newest first", Flags: append(listFlags(conditionExamples{"StatusCode>=500", `{"StatusCodeGreaterThanOrEqualTo":500}`}), errorsFlag()), Action: lists(listRequests),
				Description: `whctl requests list --errors --take 20
whctl requests list --where "PathInfo^=/Webhooks"`,
			},
			{Name: "tail", Usage: "follow requests live", Flags: append(tailFlags(), errorsFlag()), Action: with(tailRequests)},
		},
	}}
}

func errorsFlag() cli.Flag {
	return &cli.BoolFlag{Name: "errors", Usage: "only requests that failed (status 400 and above)"}
}

// firstError is the lowest HTTP status code of an error.
const firstError = 400

func listRequests(c *cli.Context, _ *session) (listing, error) {
	l := listing{kind: systemKind("RequestLog"), brief: []string{"DateTime", "StatusCode", "HttpMethod", "PathInfo", "RequestDuration", "UserAuthId", "IpAddress"}}
	if c.Bool("errors") {
		l.where = []client.Filter{{Field: "StatusCode", Operator: record.GreaterThanOrEqualTo, Values: []string{fmt.Sprint(firstError)}}}
	}
	return l, nil
}

var answeredColumns = []output.Column{
	{Name: "At", Type: record.Epoch}, {Name: "Method", Type: record.Text}, {Name: "PathInfo", Type: record.Text}, {Name: "StatusCode", Type: record.Int},
	{Name: "DurationMilliseconds", Type: record.Decimal}, {Name: "UserName", Type: record.Text}, {Name: "RequestID", Type: record.Text},
}

func tailRequests(c *cli.Context, s *session) error {
	return tail(c, s, liveStream{topic: wire.TopicRequests, columns: answeredColumns, open: func(*client.Client) (formatEvent, error) {
		return func(e client.StreamEvent) (document any, text string) {
			r, ok := e.(client.RequestEvent)
			if !ok || c.Bool("errors") && r.StatusCode < firstError {
				return nil, ""
			}
			duration := time.Duration(r.DurationMilliseconds * float64(time.Millisecond)).Round(10 * time.Microsecond)
			return r.HandledRequest, fmt.Sprintf("%s  %d  %-6s %s  %s  %s", listen.Clock(r.At, s.Zone()), r.StatusCode, r.Method, r.PathInfo, duration, r.UserName)
		}, nil
	}})
}
