package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/term"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
)

// firstStart makes what a new store is to have, the first user and demo records, and
// shows it to the user at the terminal.
type firstStart struct {
	config   config.Config
	out      io.Writer // for the user at the terminal
	log      *slog.Logger
	store    *storage.Store
	accounts *account.Service

	password   string // of the first user, generated at this start
	demoKey    string // made at this start
	demoFilled bool   // at this start
}

// Files of the data directory that hold secrets.
const (
	adminPasswordFile = "admin-password" // a generated password that no terminal could show
	demoKeyFile       = "demo-key"       // the demo's key, for the README's commands
)

// SecretFiles are the files of the data directory that hold a secret of its store.
func SecretFiles() []string { return []string{adminPasswordFile, demoKeyFile} }

func (f *firstStart) path(name string) string { return filepath.Join(f.config.DataDir, name) }

// writePrivate puts a secret into a file of the data directory that only the
// daemon's user can read.
func (f *firstStart) writePrivate(name, secret string) error {
	path := f.path(name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // an older file could be open to others
	}
	return os.WriteFile(path, []byte(secret+"\n"), 0o600)
}

// ensureAdmin makes the first user, admin, where there is no user. It returns
// the password if it was generated, once that is shown or kept.
func (f *firstStart) ensureAdmin(ctx context.Context) (generated string, err error) {
	if none, err := f.noUsers(ctx); err != nil || !none {
		return "", err
	}
	if given := string(f.config.AdminPassword); given != "" {
		_, err := f.accounts.EnsureAdmin(ctx, given)
		return "", err
	}
	generated = rand.Text()
	if !f.onTerminal() {
		return f.ensureAdminInFile(ctx, generated)
	}
	created, err := f.accounts.EnsureAdmin(ctx, generated)
	if err != nil || !created {
		return "", err
	}
	fmt.Fprintf(f.out, "  user admin, password %s (shown this once)\n", generated)
	return generated, nil
}

func (f *firstStart) noUsers(ctx context.Context) (bool, error) {
	users, err := f.accounts.Users(ctx)
	return err == nil && len(users) == 0, err
}

// ensureAdminInFile keeps the password in a file before it counts, so that it
// is never lost. The file has a name of its own until it is known whose user
// was made: another daemon that starts now may share the directory.
func (f *firstStart) ensureAdminInFile(ctx context.Context, password string) (string, error) {
	name := adminPasswordFile + "." + rand.Text()[:8]
	if err := f.writePrivate(name, password); err != nil {
		return "", err
	}
	draft, final := f.path(name), f.path(adminPasswordFile)
	created, err := f.accounts.EnsureAdmin(ctx, password)
	if err != nil {
		if none, checkErr := f.noUsers(ctx); checkErr == nil && none {
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
	f.log.Warn("the password of the first user, admin, was written to a file", "file", final)
	return password, nil
}

// DemoTables are what demo records fill: the record kinds' tables and those of
// bills.
func DemoTables(kinds *record.Registry) []*record.Kind {
	return append(slices.Clone(kinds.Kinds()), erp.BillTables().Kinds()...)
}

// fillDemo fills an empty store with demo records. It gives its bills to a demo store
// that an earlier version filled, which had none: the demo key's file is the sign of
// such a store.
func (f *firstStart) fillDemo(ctx context.Context) error {
	if !f.config.Demo {
		return nil
	}
	tables, what := DemoTables(record.Builtin()), "records"
	empty, err := f.store.Empty(ctx)
	if err == nil && !empty {
		if _, err := os.Stat(f.path(demoKeyFile)); err != nil {
			return nil
		}
		tables, what = erp.BillTables().Kinds(), "bills"
		empty, err = f.store.Bills(time.UTC).Empty(ctx)
	}
	if err != nil || !empty {
		return err
	}
	n, err := f.store.Load(ctx, tables, demo.Rows)
	if err != nil {
		return fmt.Errorf("filling the store with demo %s: %w", what, err)
	}
	f.demoFilled = what == "records"
	f.log.Info("demo "+what+" loaded", "rows", n)
	return nil
}

// demoKeyName is the name of the API key that a demo store has while it is served
// as one. Each start with demo records makes another, so that the commands of
// the banner work as they are.
const demoKeyName = "demo"

// makeDemoKey ends the key of an earlier start, and makes one for a store that
// was filled with demo records, which the key's file is the sign of.
func (f *firstStart) makeDemoKey(ctx context.Context) error {
	_, err := os.Stat(f.path(demoKeyFile))
	had := err == nil
	if had {
		if err := f.accounts.As(audit.System()).RemoveKey(ctx, demoKeyName); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	if !f.config.Demo {
		if had {
			return os.Remove(f.path(demoKeyFile))
		}
		return nil
	}
	if !had && !f.demoFilled {
		return nil
	}
	if f.demoKey, _, err = f.accounts.As(audit.System()).AddKey(ctx, account.NewKey{Name: demoKeyName, Role: account.Writer}); err != nil {
		return err
	}
	return f.writePrivate(demoKeyFile, f.demoKey)
}

// onTerminal reports whether what is written is read by a user now, rather than
// kept.
func (f *firstStart) onTerminal() bool {
	file, is := f.out.(*os.File)
	return is && term.IsTerminal(int(file.Fd()))
}

// banner says where the service is and what to try. Secrets are shown on a terminal
// only: what is written elsewhere may be kept.
func (f *firstStart) banner(url string) {
	fmt.Fprintf(f.out, "\nwhd %s serves %s\n", f.config.Start.Version, url)
	if f.password != "" && !f.onTerminal() {
		fmt.Fprintf(f.out, "  user admin, password in %s\n", f.path(adminPasswordFile))
	}
	if f.demoKey == "" {
		return
	}
	key := f.demoKey
	if !f.onTerminal() {
		key = fmt.Sprintf(`$(cat %q)`, f.path(demoKeyFile))
	}
	billID, stageID, settingID := demo.BillExample()
	fmt.Fprintf(f.out, `  demo key (role writer, until the next start) in %[3]s: %[1]s

Try, in another terminal:
  curl -H "Authorization: Bearer %[1]s" "%[2]s/Queries/SO_Totals?Take=3&OrderByDesc=InvoiceTotal"
  curl -H "Authorization: Bearer %[1]s" "%[2]s/csv/reply/IN_ColoursQuery" -d '{"DescriptionContains":"steel"}'
  curl -X PATCH -H "Authorization: Bearer %[1]s" "%[2]s/Bills/%[4]s/Stages/%[5]s/CustomFieldValues/%[6]s" -d '{"Contents":"Assembly"}'
  WHCTL_URL=%[2]s WHCTL_TOKEN="%[1]s" bin/whctl query SO_Totals --format csv

`, key, url, f.path(demoKeyFile), billID, stageID, settingID)
}
