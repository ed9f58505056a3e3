package daemon

import (
	"context"
	"errors"
	"os/user"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
)

// withAccounts opens the store's accounts. A daemon that is running on the
// same store sees the changes within seconds.
func (c *call) withAccounts(ctx context.Context, work func(*account.Service) error) error {
	return c.withStore(ctx, asItIs, func(s *storage.Store) error {
		err := s.Current(ctx)
		if errors.Is(err, appdb.ErrBehind) {
			return errors.New(fault.Of(err).Message) // the store was reached, so it is no such failure
		}
		if err != nil {
			return err
		}
		accounts, err := account.New(account.Config{Store: s.Accounts()})
		if err != nil {
			return err
		}
		return work(accounts)
	})
}

// actor is who runs the command, by their account of the operating system.
func actor() audit.Actor {
	who := "(unknown)" // containers run programs as numbers without a name
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	return audit.Actor{Who: who, Via: "command"}
}

func roleOption() config.Option {
	return config.Option{Name: "role", Argument: "reader|publisher|writer|admin", Help: "what it may do; each role includes those before it"}
}

// role reads the flag --role, which has no default: what an account may do is
// for people to decide.
func (c *call) role() (account.Role, error) {
	if c.own["role"] == "" {
		return account.NoRole, config.Usagef("whd %s needs --role %s", c.command.name, roleOption().Argument)
	}
	return parseRole(c.own["role"])
}

func parseRole(text string) (account.Role, error) {
	role, err := account.ParseRole(text)
	if err != nil {
		return account.NoRole, config.Usagef("the role %v, not %q", err, text)
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
