package whd

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"os/user"
	"strings"
	"syscall"
	"time"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
)

// accounts contains the functions that commands on users and keys share.
type accounts struct{ *base }

// withAccounts opens the store's accounts. A daemon running on the same store
// picks up the changes within seconds.
func (p accounts) withAccounts(ctx context.Context, work func(*account.Service) error) error {
	return p.withStore(ctx, nil, func(s *storage.Store) error {
		if err := ready(ctx, s); err != nil {
			return err
		}
		accounts, err := account.New(account.Config{Store: s.AppDB.Accounts()})
		if err != nil {
			return err
		}
		return work(accounts)
	})
}

// ready returns an error if the tables of a store are out of date.
func ready(ctx context.Context, s *storage.Store) error {
	err := s.AppDB.Ready(ctx)
	if errors.Is(err, appdb.ErrOutdated) {
		return errors.New(fault.From(err).Message) // not fault.Unavailable: the store was reached
	}
	return err
}

// edit changes accounts. The audit log names the operating system user.
func (p accounts) edit(ctx context.Context, change func(*account.Editor) error) error {
	return p.withAccounts(ctx, func(accounts *account.Service) error { return change(editor(accounts)) })
}

func editor(accounts *account.Service) *account.Editor { return accounts.As(actor()) }

func actor() audit.Actor {
	name := "(unknown)" // in containers, the user ID may have no name
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return audit.Actor{Name: name, Via: "command"}
}

const roles = "reader|publisher|writer|admin"

func roleFlag() urfave.Flag {
	return &urfave.StringFlag{
		Name:  "role",
		Usage: "`ROLE`  reader, publisher, writer or admin; each role includes the permissions of the roles listed before it",
	}
}

// roleOf reads the flag --role. It has no default, so that permissions are always
// chosen deliberately.
func roleOf(c *urfave.Context) (account.Role, error) {
	if c.String("role") == "" {
		return account.NoRole, cli.Usagef("%s needs --role %s", strings.TrimPrefix(c.Command.HelpName, "whd "), roles)
	}
	return parseRole(c.String("role"))
}

func parseRole(text string) (account.Role, error) {
	role, err := account.ParseRole(text)
	if err != nil {
		return account.NoRole, cli.Usagef("the role %v, not %q", err, text)
	}
	return role, nil
}

// printSecret prints the only copy of a secret.
func (p accounts) printSecret(secret string) error {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error: the caller has to undo something
	_, err := fmt.Fprintln(p.Stdout, secret)
	return err
}

// minute formats a time for a list; "never" for the zero time.
func minute(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}
