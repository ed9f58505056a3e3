package main

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/complete"
)

// objectsTimeout limits the requests of completion, for which a user waits.
const objectsTimeout = time.Second

// objectsMax is the number of candidates that are requested.
const objectsMax = 200

// objects returns the objects of the service that can complete an argument: subscribers by
// name, others by ID. There are none if the service does not respond in time.
func objects(ctx context.Context, s *command.Session, app *cli.App) complete.ObjectsFunc {
	return func(noun string, global func(string) string) []complete.Candidate {
		if s.CompletionTimeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.CompletionTimeout)
			defer cancel()
		}
		set := flag.NewFlagSet("", flag.ContinueOnError)
		for _, f := range app.Flags {
			_ = f.Apply(set) // has no default from the environment
			if value := global(f.Names()[0]); value != "" {
				_ = set.Set(f.Names()[0], value) // an invalid value has no effect
			}
		}
		s.Stderr = io.Discard
		s.Vault.Timeout = s.CompletionTimeout
		c := cli.NewContext(app, set, nil)
		c.Context = ctx
		c.Command = &cli.Command{}
		service, err := s.ReadClient(c)
		if err != nil {
			return nil
		}
		defer service.Close()
		candidates, _ := objectsOf(ctx, service, noun) // without candidates, shells complete files
		return candidates
	}
}

// listedObjects has the records that are candidates for an argument.
var listedObjects = map[string]struct {
	kind, value string
	meaning     func(client.Row) string
}{
	"SUBSCRIBER": {"Subscriber", "Name", func(r client.Row) string {
		if r.Text("IsEnabled") == "false" {
			return "disabled"
		}
		return ""
	}},
	"SUBSCRIPTION": {"Subscription", "RecID", func(r client.Row) string {
		return r.Text("EventName") + " to " + display.ShortURL(r.Text("URL"))
	}},
	"MESSAGE": {"Message", "MessageID", func(r client.Row) string {
		status, _ := filter.StatusNumber(r.Text("Status")) // a number of the service
		return wire.StatusWords[status] + " " + r.Text("EventName") + " " + r.Text("LastMessageResponseHTTPCode")
	}},
}

func objectsOf(ctx context.Context, service *client.Client, noun string) ([]complete.Candidate, error) {
	switch noun {
	case "KEY":
		keys, err := service.APIKeys(ctx)
		return complete.Candidates(keys, func(k wire.APIKey) (string, string) { return k.Name, k.Role }), err
	case "USER":
		users, err := service.Users(ctx)
		return complete.Candidates(users, func(u wire.User) (string, string) { return u.UserName, u.Role }), err
	}
	listed, ok := listedObjects[noun]
	if !ok {
		return nil, nil
	}
	query := client.Query{Kind: command.SystemKind(listed.kind), Take: new(int64(objectsMax))}
	page, err := service.Page(ctx, query)
	if err != nil {
		return nil, err
	}
	return complete.Candidates(page.Rows, func(row client.Row) (string, string) {
		return row.Text(listed.value), listed.meaning(row)
	}), nil
}
