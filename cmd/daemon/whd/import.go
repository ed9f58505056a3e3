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
	settings := append([]string{
		"erp", "erp.read_dsn", "webhooks.allow_targets", "webhooks.events", "query.time_zone",
	}, storeSettings...)
	return []*urfave.Command{{
		Name:   "import",
		Usage:  "copy subscribers, subscriptions and undelivered messages from the .NET service; can be repeated",
		Action: p.run,
		Flags: slices.Concat([]urfave.Flag{
			&urfave.StringFlag{
				Name:  "from",
				Usage: "`DSN`  database of the .NET service, sqlserver://...; default: the database in the setting erp",
			},
			&urfave.StringFlag{
				Name:  "schema",
				Value: "dbo",
				Usage: "`NAME`  schema of the .NET service's tables",
			},
			&urfave.BoolFlag{
				Name:  "dry-run",
				Usage: "change nothing; print the same counts and problems",
			},
			&urfave.BoolFlag{
				Name:  "no-messages",
				Usage: "do not copy undelivered messages; use it while both services run",
			},
		}, p.settingFlags(settings...)),
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
	imported := p.importConfig(c, conf)
	var result importer.Result
	err = p.withWebhooks(c.Context, conf, imported.DryRun, func(s importer.Store) (err error) {
		imported.Store = s
		result, err = importer.Run(c.Context, imported)
		return err
	})
	if err != nil {
		return err
	}

	fmt.Fprintf(p.Stdout,
		"subscribers: %v\nsubscriptions: %v\nheaders: %d new\nmessages: %v\nfinished messages: %d not copied\n",
		result.Subscribers, result.Subscriptions, result.Headers, result.Messages, result.Finished)
	if !result.Consistent {
		p.notice("the database has no snapshot isolation, so changes during the import may be incomplete; " +
			"repeat it when the .NET service is stopped")
	}
	if imported.DryRun {
		p.notice("dry run: nothing was changed")
	}
	if n := result.Subscriptions.Refused + result.Messages.Refused; n > 0 {
		return fmt.Errorf("%d objects were not imported; see the output", n)
	}
	return nil
}

// importConfig returns the configuration of the import, without the store.
func (p importing) importConfig(c *urfave.Context, conf config.Config) importer.Config {
	dsn := cmp.Or(c.String("from"), string(conf.ERP.ReadDSN))
	if dsn == "" && conf.ERP.DSN.OnServer() {
		dsn = string(conf.ERP.DSN)
	}
	events, _ := conf.Webhooks.PublishedEvents(conf.ERP.Kinds.Registry())
	return importer.Config{
		DSN:      dsn,
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
}

// withWebhooks calls work with the store. The embedded store belongs to one process: it
// cannot be changed while a daemon runs.
func (p importing) withWebhooks(
	ctx context.Context, conf config.Config, dryRun bool, work func(importer.Store) error,
) (err error) {
	err = preflight.Openable(ctx, conf)
	if err != nil {
		return err
	}
	isServing := !conf.Store.OnServer() && !dryRun
	if isServing {
		lock, err := datadir.LockServing(conf.DataDir, fmt.Sprintf("pid %d, whd import", os.Getpid()))
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, "the store cannot be changed now")
		}
		defer func() { err = errors.Join(err, lock.Release()) }()
	}
	serving := func(c *storage.Config) { c.Serving = isServing }
	return p.openStore(ctx, conf, serving, func(s *storage.Store) error {
		if err := ready(ctx, s); err != nil {
			return err
		}
		return work(importer.Store{Subscribers: s.Webhooks.Admin, Messages: s.Webhooks.Engine})
	})
}
