package whd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/kinds/discover"
	"github.com/bizhook/whd/daemon/storage"
)

// kindCommands has the commands on record kinds from files.
type kindCommands struct{ *base }

func (p kindCommands) commands() []*urfave.Command {
	settings := p.settingFlags(recordSettings...)
	return []*urfave.Command{{
		Name:  "kinds",
		Usage: "make record kinds of tables and views of the ERP",
		Subcommands: []*urfave.Command{
			{
				Name:   "discover",
				Usage:  "print a file of record kinds for the tables of the ERP's database",
				Action: p.discover,
				Flags: append([]urfave.Flag{
					&urfave.StringFlag{
						Name:  "schema",
						Usage: "`NAMES`  only tables in these schemas, such as dbo,sales; * stands for any text",
					},
					&urfave.StringFlag{Name: "table", Usage: "`NAMES`  only these tables, such as DB_*,IN_*"},
					&urfave.StringFlag{Name: "columns", Usage: "`NAMES`  only these columns"},
					&urfave.BoolFlag{Name: "views", Usage: "include views"},
				}, settings...),
				Description: "whd kinds discover --table 'DB_*,IN_*' > kinds/erp.toml",
			},
			{
				Name:   "accept",
				Usage:  "confirm that tables no longer exist in the ERP's database, and stop serving their kinds",
				Action: p.accept,
				Flags:  settings,
			},
			{
				Name:      "diff",
				ArgsUsage: "[FILE...]",
				Usage:     "compare the files of record kinds with the ERP's database; exit code 1 if they differ",
				Action:    p.diff,
				Flags:     settings,
			},
		},
	}}
}

// accept notes that the tables that were served and are no longer seen are gone.
func (p kindCommands) accept(c *urfave.Context) error {
	conf, err := p.config()
	if err != nil {
		return err
	}
	return p.openStore(c.Context, conf, nil, func(s *storage.Store) error {
		served, err := s.Served(c.Context)
		if err != nil {
			return err
		}
		presence, err := s.Presence(c.Context, conf.ERP.Tracked(), served)
		if err != nil {
			return err
		}
		for _, name := range presence.Missing {
			err := s.AppDB.PutServedTable(c.Context, appdb.ServedTable{Name: name, IsGone: true})
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Stdout, "%s is no longer served\n", name)
		}
		if len(presence.Missing) == 0 {
			p.notice("no table that was served is missing")
			return nil
		}
		p.notice("a running service follows within a minute, or when it reloads its settings")
		return nil
	})
}

// objects reads the catalogue of the database of the records, which it returns as well.
func (p kindCommands) objects(ctx context.Context, conf config.Config) (erp.Config, []discover.Object, error) {
	records := daemon.StoreConfig(conf, 1).ERP
	records.DSN = cmp.Or(records.ReadDSN, records.DSN)
	records.Path = filepath.Join(conf.DataDir, storage.RecordsFile)
	if records.DSN == "" {
		if _, err := os.Stat(records.Path); err != nil {
			return records, nil, cli.Usagef("there is no database of records; "+
				"set erp to the connection string of the ERP's database, or create the file %s", records.Path)
		}
	}
	objects, err := discover.Read(ctx, records)
	if err != nil {
		return records, nil, fault.Wrap(err, fault.Unavailable, "the database of records cannot be read")
	}
	return records, objects, nil
}

// patterns returns the names or patterns in a flag, which separates them by commas.
func patterns(c *urfave.Context, flag string) ([]string, error) {
	var list []string
	for pattern := range strings.SplitSeq(c.String(flag), ",") {
		pattern = strings.TrimSpace(pattern)
		if pattern == "" {
			continue
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, cli.Usagef("--%s: %q is not a name or pattern", flag, pattern)
		}
		list = append(list, pattern)
	}
	return list, nil
}

// discoverOptions returns the options in the flags of discover.
func discoverOptions(c *urfave.Context) (options discover.Options, err error) {
	options.Views = c.Bool("views")
	options.Schemas, err = patterns(c, "schema")
	if err != nil {
		return options, err
	}
	options.Names, err = patterns(c, "table")
	if err != nil {
		return options, err
	}
	options.Columns, err = patterns(c, "columns")
	return options, err
}

// discover prints a file of kinds, and a summary of the objects and columns that it leaves
// out.
func (p kindCommands) discover(c *urfave.Context) error {
	options, err := discoverOptions(c)
	if err != nil {
		return err
	}
	conf, err := p.config()
	if err != nil {
		return err
	}
	records, objects, err := p.objects(c.Context, conf)
	if err != nil {
		return err
	}

	proposed := discover.Propose(objects, options)
	head := []string{"Record kinds of tables and views of the ERP, as printed by whd kinds discover."}
	if records.DSN != "" {
		head = append(head, "Tables and views that the login has no right on are invisible, so they are not here.")
	}
	for _, object := range proposed.Skipped {
		head = append(head, "Left out: "+object)
		p.notice("left out: %s", object)
	}
	p.notice("record kinds: %d; left out, with the reasons in comments: tables and views: %d, columns: %d",
		len(proposed.Kinds), len(proposed.Skipped), proposed.Omitted)
	return kinds.Write(p.Stdout, head, proposed.Kinds)
}

// diff prints the differences between files of kinds and the database.
func (p kindCommands) diff(c *urfave.Context) error {
	conf, err := p.config()
	if err != nil {
		return err
	}
	records, objects, err := p.objects(c.Context, conf)
	if err != nil {
		return err
	}
	set := conf.ERP.Kinds
	if files := c.Args().Slice(); len(files) > 0 {
		set = kinds.Load(files...)
	}
	if len(set.Files) == 0 {
		return cli.Usagef("there are no files of record kinds; name them, or set erp.kinds")
	}
	var lines []string
	for _, problem := range set.Problems {
		lines = append(lines, problem.String())
	}
	lines = append(lines, discover.Diff(set.Declared, objects, records)...)
	for _, line := range lines {
		fmt.Fprintln(p.Stdout, line)
	}
	if len(lines) > 0 {
		return fmt.Errorf("differences between the record kinds and the database: %d", len(lines))
	}
	return nil
}
