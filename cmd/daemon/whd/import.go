package whd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/importer"
	"github.com/bizhook/whd/daemon/preflight"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook"
)

// importing is the command import.
type importing struct{ *base }

func (p importing) commands() []*urfave.Command {
	return []*urfave.Command{{
		Name:   "import",
		Usage:  "copy subscribers, subscriptions and unfinished messages from the existing service; can be repeated",
		Action: p.run,
		Flags: slices.Concat([]urfave.Flag{
			&urfave.StringFlag{Name: "from", Usage: "`DSN`  database of the existing service, sqlserver://...; default: the server of the business records"},
			&urfave.StringFlag{Name: "schema", Value: "dbo", Usage: "`NAME`  schema of the existing service's tables"},
			&urfave.BoolFlag{Name: "dry-run", Usage: "change nothing; print the same counts and problems"},
			&urfave.BoolFlag{Name: "no-messages", Usage: "leave unfinished messages to the existing service, while both run"},
		}, p.settingFlags(append([]string{
			"erp", "erp.read_dsn", "webhooks.allow_targets", "webhooks.events",
			"query.time_zone",
		}, storeSettings...)...)),
		Description: `whd import --from "sqlserver://whd_import:PASSWORD@erp-db?database=ERP" --dry-run`,
	}}
}

// run imports and prints the counts. Standard output also has one line for each object
// that is different here, was not imported, or needs a setting.
func (p importing) run(c *urfave.Context) error {
	conf, err := p.config()
	if err != nil {
		return err
	}
	events, _ := conf.Webhooks.PublishedEvents(conf.ERP.Kinds.Registry())
	i := importer.Config{
		DSN:      cmp.Or(c.String("from"), string(conf.ERP.ReadDSN)),
		Schema:   c.String("schema"),
		Messages: !c.Bool("no-messages"),
		DryRun:   c.Bool("dry-run"),
		Zone:     conf.Query.TimeZone,
		Actor:    actor(),
		Rules: webhook.Rules{
			Events:     events,
			Guard:      webhook.Guard{Allow: conf.Webhooks.AllowTargets},
			TestTarget: conf.Webhooks.TestTarget(),
		},
		Report: func(format string, args ...any) { fmt.Fprintf(p.Stdout, format+"\n", args...) },
	}
	if i.DSN == "" && conf.ERP.DSN.OnServer() {
		i.DSN = string(conf.ERP.DSN)
	}
	var result importer.Result
	err = p.withWebhooks(c.Context, conf, i.DryRun, func(s importer.Store) (err error) {
		i.Store = s
		result, err = importer.Run(c.Context, i)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout,
		"subscribers: %v\nsubscriptions: %v\nheaders: %d new\nmessages: %v\nfinished messages: %d not copied\n",
		result.Subscribers, result.Subscriptions, result.Headers, result.Messages, result.Finished)
	if !result.Consistent {
		p.notice("the database has no snapshot isolation, so changes during the import may be incomplete; repeat it when the existing service is stopped")
	}
	if i.DryRun {
		p.notice("dry run: nothing was changed")
	}
	if n := result.Subscriptions.Refused + result.Messages.Refused; n > 0 {
		return fmt.Errorf("%d objects were not imported; see the output", n)
	}
	return nil
}

// withWebhooks calls work with the store. The embedded store belongs to one process: it
// cannot be changed while a daemon runs.
func (p importing) withWebhooks(
	ctx context.Context, conf config.Config, dryRun bool, work func(importer.Store) error,
) (err error) {
	if err = preflight.Openable(ctx, conf); err != nil {
		return err
	}
	if !conf.Store.OnServer() && !dryRun {
		lock, locked := datadir.LockServing(conf.DataDir, fmt.Sprintf("pid %d, whd import", os.Getpid()))
		if locked != nil {
			return fault.Wrap(locked, fault.Unavailable, "the store cannot be changed now")
		}
		defer func() { err = errors.Join(err, lock.Release()) }()
	}
	return p.openStore(ctx, conf, nil, func(s *storage.Store) error {
		if err := ready(ctx, s); err != nil {
			return err
		}
		return work(importer.Store{Subscribers: s.Webhooks.Admin, Messages: s.Webhooks.Engine})
	})
}
