package main

import (
	"context"
	"fmt"
	"net/url"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// ownDryRun is the flag of commands whose dry run the service makes: it counts,
// where the flag of all commands shows the request.
const ownDryRun = "dry-run"

// bulk is something that can be done to messages.
type bulk struct {
	verb, done string
	sweeping   bool // it needs a yes even for one that is named
	one        func(*cli.Context, *client.Client, messageName) (string, error)
	many       func(context.Context, *client.Client, url.Values) (tally, error)
}

// tally is what became of the messages that match.
type tally struct{ matched, done int64 }

var (
	retrying = bulk{verb: "retry", done: "due now", one: retryOne,
		many: func(ctx context.Context, service *client.Client, members url.Values) (tally, error) {
			r, err := service.RetryMessages(ctx, members)
			if err != nil {
				return tally{}, err
			}
			return tally{r.Matched, r.Retried}, nil
		}}
	deleting = bulk{verb: "delete", done: "deleted", sweeping: true, one: deleteOne,
		many: func(ctx context.Context, service *client.Client, members url.Values) (tally, error) {
			r, err := service.DeleteMessages(ctx, members)
			if err != nil {
				return tally{}, err
			}
			return tally{r.Matched, r.Deleted}, nil
		}}
)

// onMatching has the service count first what it would do, so that whoever is
// asked knows what it is about. It prints how many messages there were.
func (p *program) onMatching(c *cli.Context, what bulk) error {
	members, err := p.meant(c)
	if err != nil {
		return err
	}
	s, err := p.settings(c)
	if err != nil {
		return err
	}
	service, err := p.clientFor(c, s, s.Yes("read_only")) // it counts, and changes only what is agreed on
	if err != nil {
		return err
	}
	defer service.Close()
	members.Set("DryRun", "true")
	would, err := what.many(c.Context, service, members)
	if err != nil {
		return err
	}
	if c.Bool(ownDryRun) || would.done == 0 {
		p.notice(c, "%s, of which %s would be %s", display.Count(would.matched, "message matches", "messages match"), display.Thousands(would.done), what.done)
		_, err := fmt.Fprintln(p.stdout, would.done)
		return err
	}
	if !s.Yes("read_only") { // else the client refuses, whoever agrees
		if err := p.confirm(c, s, change{what: what.verb + " " + display.Count(would.done, "message", "messages"), sweeping: true}); err != nil {
			return err
		}
	}
	members.Del("DryRun")
	return p.doMatching(c, service, what, members, would)
}

func (p *program) doMatching(c *cli.Context, service *client.Client, what bulk, members url.Values, would tally) error {
	did, err := what.many(c.Context, service, members)
	if err != nil {
		return err
	}
	p.notice(c, "%s %s%s", display.Count(did.done, "message is", "messages are"), what.done, leftAlone(did))
	if _, err := fmt.Fprintln(p.stdout, did.done); err != nil {
		return err
	}
	if did.done < would.done {
		return &partialError{fmt.Sprintf("%s of %s: the others were gone or received meanwhile", display.Thousands(did.done), display.Count(would.done, "message", "messages"))}
	}
	return nil
}

func leftAlone(t tally) string {
	if t.matched == t.done {
		return ""
	}
	return fmt.Sprintf(", %s left alone: received already, or due anyway", display.Thousands(t.matched-t.done))
}

// meant is which messages are meant, as members of the request.
func (p *program) meant(c *cli.Context) (url.Values, error) {
	period, err := p.period(c)
	if err != nil {
		return nil, err
	}
	s, err := p.settings(c)
	if err != nil {
		return nil, err
	}
	q := client.Query{Kind: systemKind("Message"), Where: period}
	if err := p.readFilters(c, &q, s); err != nil {
		return nil, cmdline.Usagef("%s", err)
	}
	members := make(url.Values)
	for _, f := range q.Where {
		if f.Operator == record.In && len(f.Values) == 1 {
			f.Operator = record.Equal // a text by itself would be read as a list
		}
		members[f.Member()] = f.Values
	}
	all := c.Bool("all-messages")
	switch {
	case len(members) == 0 && !all:
		return nil, cmdline.Usagef("which messages? name them, or give --where, --since, --until, or --all-messages for every one there is")
	case len(members) > 0 && all:
		return nil, cmdline.Usagef("--all-messages goes without --where, --since and --until")
	case all:
		members.Set("All", "true")
	}
	if c.IsSet("take") {
		if n := c.Int64("take"); n < 0 || n > 1<<31-1 {
			return nil, cmdline.Usagef("--take must be from 0 to 2147483647")
		}
		members.Set("Take", fmt.Sprint(c.Int64("take")))
	}
	return members, nil
}
