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

// objectsMax is the maximum number of candidates that are requested.
const objectsMax = 200

// objects returns a function with the objects of the service that can complete an argument:
// subscribers by name, others by ID. There are none if the service does not respond in time.
func objects(ctx context.Context, s *command.Session, app *cli.App) complete.ObjectsFunc {
	return func(noun string, global func(string) string) []complete.Candidate {
		limited := ctx
		if s.CompletionTimeout > 0 {
			var cancel context.CancelFunc
			limited, cancel = context.WithTimeout(ctx, s.CompletionTimeout)
			defer cancel()
		}
		s.Stderr = io.Discard
		s.Vault.Timeout = s.CompletionTimeout
		service, err := s.ReadClient(completionContext(limited, app, global))
		if err != nil {
			return nil
		}
		defer service.Close()
		candidates, _ := objectsOf(limited, service, noun) // without candidates, shells complete files
		return candidates
	}
}

// completionContext returns the context of a command with the global flags of an unfinished command
// line.
func completionContext(
	ctx context.Context, app *cli.App, global func(string) string,
) *cli.Context {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	for _, f := range app.Flags {
		_ = f.Apply(set) // has no default from the environment
		name := f.Names()[0]
		if value := global(name); value != "" {
			_ = set.Set(name, value) // an invalid value has no effect
		}
	}
	c := cli.NewContext(app, set, nil)
	c.Context = ctx
	c.Command = &cli.Command{}
	return c
}

// listedObject describes records that are candidates for an argument.
type listedObject struct {
	kind    string
	value   string                  // name of the field that is completed
	meaning func(client.Row) string // shown after the value
}

// listedObjects has the records that are candidates for an argument.
var listedObjects = map[string]listedObject{
	"SUBSCRIBER":   {kind: "Subscriber", value: "Name", meaning: subscriberMeaning},
	"SUBSCRIPTION": {kind: "Subscription", value: "RecID", meaning: subscriptionMeaning},
	"MESSAGE":      {kind: "Message", value: "MessageID", meaning: messageMeaning},
}

func subscriberMeaning(r client.Row) string {
	if r.Text("IsEnabled") == "false" {
		return "disabled"
	}
	return ""
}

func subscriptionMeaning(r client.Row) string {
	return r.Text("EventName") + " to " + display.ShortURL(r.Text("URL"))
}

func messageMeaning(r client.Row) string {
	status, _ := filter.StatusNumber(r.Text("Status")) // a number of the service
	code := r.Text("LastMessageResponseHTTPCode")
	return wire.StatusWords[status] + " " + r.Text("EventName") + " " + code
}

// objectsOf returns the candidates for an argument; none for an unknown noun.
func objectsOf(
	ctx context.Context, service *client.Client, noun string,
) ([]complete.Candidate, error) {
	switch noun {
	case "KEY":
		keys, err := service.APIKeys(ctx)
		return complete.Candidates(keys, func(k wire.APIKey) (string, string) {
			return k.Name, k.Role
		}), err
	case "USER":
		users, err := service.Users(ctx)
		return complete.Candidates(users, func(u wire.User) (string, string) {
			return u.UserName, u.Role
		}), err
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
