package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/fault"
)

// timesGrace is how long it may take to write when logins were used last.
const timesGrace = 3 * time.Second

// openAccounts starts the accounts and makes sure that there is a first user.
// Where our own tables on a server are behind, that waits until they are not:
// the daemon serves meanwhile, and says at /readyz and at every login what has
// to be done.
func (d *Daemon) openAccounts(ctx context.Context) error {
	s, err := account.New(account.Config{
		Store: d.store.Accounts(), Clock: d.clock.now, Log: d.log, Lifetimes: d.lifetimes,
	})
	if err != nil {
		return err
	}
	d.accounts = s
	s.Start(context.WithoutCancel(ctx))
	d.onStop("accounts", func(ctx context.Context) error { // also where requests have taken the whole of the grace
		ctx, cancel := atLeast(ctx, timesGrace)
		defer cancel()
		return s.Stop(ctx)
	})
	err = d.store.Current(ctx)
	if errors.Is(err, appdb.ErrBehind) {
		d.log.Warn("nobody can sign in yet", "reason", fault.Of(err).Message)
		d.awaitTables("first user", d.tablesCame)
		return nil
	}
	if err != nil {
		return err
	}
	d.greeting.password, err = d.ensureAdmin(ctx)
	return err
}

// tablesWatch is how often the daemon looks whether its tables are up to date
// while they are not.
const tablesWatch = 2 * time.Second

// awaitTables does what has to wait until somebody has migrated the tables, as
// soon as done reports that it is done.
func (d *Daemon) awaitTables(name string, done func(context.Context) bool) {
	d.repeat(name, tablesWatch, done)
}

// repeat calls done every so often until it reports that it is done.
func (d *Daemon) repeat(name string, every time.Duration, done func(context.Context) bool) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if done(ctx) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	d.onStop(name, func(context.Context) error {
		cancel()
		<-ended
		return nil
	})
}

// tablesCame reports whether the tables are up to date and have a first user.
func (d *Daemon) tablesCame(ctx context.Context) bool {
	if d.store.Current(ctx) != nil {
		return false
	}
	if _, err := d.ensureAdmin(ctx); err != nil {
		d.log.Error("the first user could not be made; trying again", "err", err)
		return false
	}
	d.log.Info("the daemon's own tables are up to date now")
	return true
}

// ensureAdmin makes the first user, admin, where there is no user. It returns
// the password if it was made up, once that is shown or kept.
func (d *Daemon) ensureAdmin(ctx context.Context) (madeUp string, err error) {
	if none, err := d.noUsers(ctx); err != nil || !none {
		return "", err
	}
	if given := string(d.config.AdminPassword); given != "" {
		_, _, err := d.accounts.EnsureAdmin(ctx, given)
		return "", err
	}
	madeUp = rand.Text()
	if !isTerminal(d.out) {
		return d.ensureAdminInFile(ctx, madeUp)
	}
	_, created, err := d.accounts.EnsureAdmin(ctx, madeUp)
	if err != nil || !created {
		return "", err
	}
	fmt.Fprintf(d.out, "  user admin, password %s (shown this once)\n", madeUp)
	return madeUp, nil
}

func (d *Daemon) noUsers(ctx context.Context) (bool, error) {
	users, err := d.accounts.Users(ctx)
	return err == nil && len(users) == 0, err
}

// adminPasswordFile holds a generated password where no terminal could show it.
const adminPasswordFile = "admin-password"

// ensureAdminInFile keeps the password in a file before it counts, so that it
// is never lost. The file has a name of its own until it is known whose user
// was made: another daemon that starts now may share the directory.
func (d *Daemon) ensureAdminInFile(ctx context.Context, password string) (string, error) {
	name := adminPasswordFile + "." + rand.Text()[:8]
	if err := d.writePrivate(name, password); err != nil {
		return "", err
	}
	draft, final := filepath.Join(d.config.DataDir, name), filepath.Join(d.config.DataDir, adminPasswordFile)
	_, created, err := d.accounts.EnsureAdmin(ctx, password)
	if err != nil {
		if none, checkErr := d.noUsers(ctx); checkErr == nil && none {
			return "", errors.Join(err, os.Remove(draft))
		}
		return "", fmt.Errorf("if the first user, admin, was made, its password is in %s: %w", draft, err)
	}
	if !created {
		return "", os.Remove(draft)
	}
	if err := os.Rename(draft, final); err != nil {
		return "", fmt.Errorf("the password of the first user, admin, is in %s: %w", draft, err)
	}
	d.log.Warn("the password of the first user, admin, was written to a file", "file", final)
	return password, nil
}
