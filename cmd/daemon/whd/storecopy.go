package whd

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/storecopy"
)

// copying is the command store copy.
type copying struct{ *base }

func (p copying) commands() []*urfave.Command {
	flags := []urfave.Flag{
		&urfave.StringFlag{
			Name:  "from",
			Usage: "`sqlserver://...`  the database to copy from; default: the database in the setting erp",
		},
		&urfave.StringFlag{
			Name:  "to",
			Value: string(config.Embedded),
			Usage: "`sqlite`  the store to copy to: files in data_dir",
		},
		&urfave.StringFlag{
			Name:  "schema",
			Usage: "`NAME`  the schema to copy from; by default store.schema",
		},
		&urfave.BoolFlag{
			Name:  "replace",
			Usage: "copy again: move the result of an earlier copy to a subdirectory of the data directory",
		},
		&urfave.StringFlag{
			Name:  "format",
			Value: "text",
			Usage: "output format, `text|json`",
		},
	}
	command := &urfave.Command{
		Name:   "copy",
		Usage:  "copy whd's own data from SQL Server to the embedded store; stop all daemons first",
		Action: p.copy,
		Flags:  append(flags, p.settingFlags(storeSettings...)...),
		Description: `whd store copy --from sqlserver://user:password@host?database=name --to sqlite
whd store copy --to sqlite --replace`,
	}
	return []*urfave.Command{{
		Name:        "store",
		Usage:       "move whd's own data",
		Subcommands: []*urfave.Command{command},
	}}
}

// copy copies the data of a server into new files, and prints the number of rows of
// each table. The server is only read.
func (p copying) copy(c *urfave.Context) error {
	conf, err := p.config()
	if err != nil {
		return err
	}
	format := c.String("format")
	if format != "text" && format != "json" {
		return cli.Usagef("--format must be text or json, not %q", format)
	}
	if c.String("to") != string(config.Embedded) {
		return cli.Usagef("--to must be %s", config.Embedded)
	}
	dsn := sourceOf(c.String("from"), conf)
	if !dsn.OnServer() {
		return cli.Usagef("--from is missing: the connection string of the database with whd's data")
	}

	result, err := storecopy.Copy(c.Context, storecopy.Config{
		DSN:     string(dsn),
		Schema:  cmp.Or(c.String("schema"), conf.Server.Schema),
		Dir:     conf.DataDir,
		Replace: c.Bool("replace"),
	})
	if err != nil {
		return err
	}
	if result.OutboxRows > 0 {
		p.notice("%d rows of the table WH_Outbox have not become events; "+
			"they stay on the server until a daemon with the setting erp.outbox reads them", result.OutboxRows)
	}
	if format == "json" {
		return writeJSON(p.Stdout, result)
	}
	return p.printCopied(result)
}

// sourceOf returns the database to copy from: that of the flag --from, or else that of the
// settings.
func sourceOf(flag string, conf config.Config) config.DSN {
	if flag != "" {
		return config.DSN(flag)
	}
	if conf.Store.OnServer() {
		return conf.Store
	}
	return conf.ERP.DSN
}

func (p copying) printCopied(result storecopy.Result) error {
	columns := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "TABLE\tON THE SERVER\tCOPIED")
	for _, t := range result.Tables {
		fmt.Fprintf(columns, "%s\t%d\t%d\n", t.Table, t.Source, t.Copied)
	}
	fmt.Fprintf(columns, "the files are in %s\n", result.Dir)
	if result.ReplacedDir != "" {
		fmt.Fprintf(columns, "the previous files are in %s\n", result.ReplacedDir)
	}
	return columns.Flush()
}
