package whd

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/config"
)

// forever is the value of --expires for a key that does not expire.
const forever = "never"

// keys has the commands on API keys.
type keys struct{ accounts }

func (p keys) commands() []*urfave.Command {
	settings := p.settingFlags(storeSettings...)
	expires := &urfave.StringFlag{
		Name:  "expires",
		Value: "90d",
		Usage: "`DURATION`  lifetime of the key, such as 30d, or " + forever,
	}
	file := &urfave.StringFlag{
		Name:  "key-file",
		Usage: "`FILE`  take the key from a file, one that clients have already, instead of generating it",
	}
	return []*urfave.Command{{
		Name:    "key",
		Aliases: []string{"keys"},
		Usage:   "manage the API keys that programs sign in with",
		Subcommands: []*urfave.Command{
			{Name: "list", Usage: "list API keys", Action: p.listKeys, Flags: settings},
			{
				Name:      "create",
				Aliases:   []string{"add"},
				ArgsUsage: "NAME",
				Usage:     "create an API key and print it once",
				Action:    p.createKey,
				Flags:     append([]urfave.Flag{roleFlag(), expires, file}, settings...),
				Description: `whd key create nightly --role reader --expires 365d
whd key create erp --role publisher --key-file old-key.txt`,
			},
			{
				Name:      "delete",
				Aliases:   []string{"remove", "rm"},
				ArgsUsage: "KEY",
				Usage:     "delete an API key, by ID or name",
				Action:    p.deleteKey,
				Flags:     settings,
			},
		},
	}}
}

func (p keys) createKey(c *urfave.Context) error {
	role, err := roleOf(c)
	if err != nil {
		return err
	}
	expires, err := expiry(c.String("expires"), time.Now())
	if err != nil {
		return err
	}
	existing, err := p.readKey(c.String("key-file"))
	if err != nil {
		return err
	}
	return p.edit(c.Context, func(e *account.Editor) error {
		added := account.NewKey{Name: c.Args().First(), Role: role, Expires: expires, Secret: existing}
		secret, key, err := e.AddKey(c.Context, added)
		if err != nil {
			return err
		}
		if existing != "" {
			p.notice("the key in %s is now the API key %s with the role %s; expires: %s",
				c.String("key-file"), key.Name, key.Role, minute(key.Expires))
			return nil
		}
		if err := p.printSecret(secret); err != nil {
			return deleteUnprinted(c.Context, e, key, err)
		}
		p.notice("this is the API key %s with the role %s; expires: %s; it is not shown again",
			key.Name, key.Role, minute(key.Expires))
		return nil
	})
}

// deleteUnprinted deletes a key that could not be printed: its secret is lost, so that no client
// can use it. It returns the error of the command.
func deleteUnprinted(
	ctx context.Context, e *account.Editor, key account.Key, printError error,
) error {
	ctx = context.WithoutCancel(ctx) // a signal may be the reason why the reader has ended
	if err := e.RemoveKey(ctx, key.ID); err != nil {
		return fmt.Errorf("the key could not be printed: %w; delete it with whd key delete %s: %w",
			printError, key.ID, err)
	}
	return fmt.Errorf("the key could not be printed and was deleted again: %w", printError)
}

// readKey returns the first line of a file with a key; empty if path is empty. It warns if other
// users can read the file, or change it to a key that they know.
func (p keys) readKey(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if isShared(file) {
		p.notice("warning: other users can read or change %s; "+
			"run chmod 600 on it, or delete it after this", path)
	}
	key, err := cli.FirstLine(file)
	if err != nil {
		return "", err
	}
	key = strings.TrimSpace(key)
	if key == "" {
		return "", cli.Usagef("%s contains no key in its first line", path)
	}
	return key, nil
}

// isShared reports whether other users can read or change a file. It is false on Windows, where
// the mode does not show it.
func isShared(file *os.File) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	info, err := file.Stat()
	const readOrWrite = 0o066 // by the group and by others
	return err == nil && info.Mode().Perm()&readOrWrite != 0
}

// expiry returns the time at which a key created now expires; the zero time means
// never.
func expiry(life string, now time.Time) (time.Time, error) {
	if life == forever {
		return time.Time{}, nil
	}
	d, err := config.ParseDuration(life)
	if err != nil {
		return time.Time{}, cli.Usagef("--expires: %v; use %s for a key that does not expire", err, forever)
	}
	return now.Add(d).UTC(), nil
}

func (p keys) listKeys(c *urfave.Context) error {
	return p.withAccounts(c.Context, func(service *account.Service) error {
		list, err := service.Keys(c.Context)
		if err != nil {
			return err
		}
		columns := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(columns, "ID\tNAME\tROLE\tADDED\tEXPIRES\tLAST USED")
		for _, k := range list {
			fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t%s\n",
				k.ID, k.Name, k.Role, minute(k.Added), minute(k.Expires), minute(k.LastUsed))
		}
		return columns.Flush() // also returns the errors of the lines
	})
}

func (p keys) deleteKey(c *urfave.Context) error {
	key := c.Args().First()
	err := p.edit(c.Context, func(e *account.Editor) error { return e.RemoveKey(c.Context, key) })
	if err == nil {
		fmt.Fprintf(p.Stderr, "API key %s revoked\n", key)
	}
	return err
}
