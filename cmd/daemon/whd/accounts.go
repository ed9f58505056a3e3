package whd

import (
	"context"
	"errors"
	"os/user"
	"time"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
)

// accounts is what the commands on users and keys have in common.
type accounts struct{ *base }

// withAccounts opens the store's accounts. A daemon that is running on the
// same store sees the changes within seconds.
func (p accounts) withAccounts(ctx context.Context, work func(*account.Service) error) error {
	return p.withStore(ctx, nil, func(s *storage.Store) error {
		err := s.AppDB.Ready(ctx)
		if errors.Is(err, appdb.ErrOutdated) {
			return errors.New(fault.From(err).Message) // the store was reached, so it is no such failure
		}
		if err != nil {
			return err
		}
		accounts, err := account.New(account.Config{Store: s.AppDB.Accounts()})
		if err != nil {
			return err
		}
		return work(accounts)
	})
}

// edit changes accounts in the name of the user who runs the command.
func (p accounts) edit(ctx context.Context, change func(*account.Editor) error) error {
	return p.withAccounts(ctx, func(accounts *account.Service) error { return change(editor(accounts)) })
}

func editor(accounts *account.Service) *account.Editor {
	who := "(unknown)" // containers run programs as numbers without a name
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	return accounts.As(audit.Actor{Name: who, Via: "command"})
}

const roles = "reader|publisher|writer|admin"

func roleFlag() urfave.Flag {
	return &urfave.StringFlag{Name: "role", Usage: "what it may do, a `ROLE`: " + roles + "; each includes those before it"}
}

// roleOf reads the flag --role, which has no default: an administrator decides
// what an account may do.
func roleOf(c *urfave.Context) (account.Role, error) {
	if c.String("role") == "" {
		return account.NoRole, cli.Usagef("the command needs --role %s", roles)
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

// minute prints a time for a list.
func minute(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}
