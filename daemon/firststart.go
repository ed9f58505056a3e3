package daemon

import (
	"bytes"
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
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/fault"
)

// firstStart creates the first user and the API key of a demo, and prints them for the user
// at the terminal.
type firstStart struct {
	config   config.Config
	out      io.Writer // for the user at the terminal
	log      *slog.Logger
	accounts *account.Service
	disk     datadir.Disk

	password string // password of the first user, generated at this start
	demoKey  string // generated at this start
}

// Files of the data directory that hold secrets.
const (
	adminPasswordFile = "admin-password" // a generated password, if it was not only printed on a terminal
	demoKeyFile       = "demo-key"       // the demo API key, for the README's commands
)

// SecretFiles returns the names of the files in the data directory that hold secrets.
func SecretFiles() []string { return []string{adminPasswordFile, demoKeyFile} }

func (f *firstStart) path(name string) string { return secretPath(f.config, name) }

// secretPath returns the path of a file of the data directory.
func secretPath(c config.Config, name string) string { return filepath.Join(c.DataDir, name) }

// newSuffix is the end of the temporary name of a file that is being written.
const newSuffix = ".new"

// writeSecret writes a secret to a file that only the daemon's user can read. A power
// failure leaves the previous file or the new one.
func writeSecret(disk datadir.Disk, path, secret string) error {
	if err := disk.Write(path+newSuffix, []byte(secret+"\n")); err != nil {
		return err
	}
	return disk.Rename(path+newSuffix, path)
}

// createUser creates the first user if there are no users, and remembers a generated
// password for the banner.
func (f *firstStart) createUser(ctx context.Context) error {
	password, err := f.ensureAdmin(ctx)
	f.password = password
	return err
}

// ensureAdmin creates the first user, admin, if there are no users. If it generated
// the password, it returns it, after printing it on a terminal or writing it to a file.
// A demo does both, because the commands of the manual read the file.
func (f *firstStart) ensureAdmin(ctx context.Context) (generated string, err error) {
	hasNoUsers, err := f.hasNoUsers(ctx)
	if err != nil {
		return "", err
	}
	if !hasNoUsers {
		return "", f.finishPassword(ctx)
	}
	if chosen := string(f.config.AdminPassword); chosen != "" {
		_, err := f.accounts.EnsureAdmin(ctx, chosen)
		return "", err
	}
	generated = rand.Text()
	if f.config.Demo || !f.onTerminal() {
		generated, err := f.ensureAdminInFile(ctx, generated)
		if err == nil && generated != "" && f.onTerminal() {
			fmt.Fprintf(f.out, "  user admin, password %s (shown this once, and written to %s)\n",
				generated, f.path(adminPasswordFile))
		}
		return generated, err
	}
	created, err := f.accounts.EnsureAdmin(ctx, generated)
	if err != nil || !created {
		return "", err
	}
	fmt.Fprintf(f.out, "  user admin, password %s (shown this once)\n", generated)
	return generated, nil
}

// hasNoUsers reports whether there are no users yet.
func (f *firstStart) hasNoUsers(ctx context.Context) (bool, error) {
	users, err := f.accounts.Users(ctx)
	return err == nil && len(users) == 0, err
}

// ensureAdminInFile writes the password to disk before it creates the user, so that
// the password is never lost. The file has a temporary name until the user exists:
// another daemon with the same store may be creating its first user concurrently.
func (f *firstStart) ensureAdminInFile(ctx context.Context, password string) (string, error) {
	final := f.path(adminPasswordFile)
	temporary := final + newSuffix
	if err := f.disk.Write(temporary, []byte(password+"\n")); err != nil {
		return "", err
	}
	created, err := f.accounts.EnsureAdmin(ctx, password)
	if err != nil {
		hasNoUsers, checkErr := f.hasNoUsers(ctx)
		if checkErr == nil && hasNoUsers {
			return "", errors.Join(err, os.Remove(temporary))
		}
		return "", fmt.Errorf("creating the first user, admin, may have failed; if it exists, its password is in %s: %w",
			temporary, err)
	}
	if !created {
		return "", os.Remove(temporary)
	}
	if err := f.disk.Rename(temporary, final); err != nil {
		return "", fmt.Errorf("the password of the first user, admin, is in %s: %w", temporary, err)
	}
	if !f.onTerminal() {
		f.log.Warn("the password of the first user, admin, was written to a file", "file", final)
	}
	return password, nil
}

// finishPassword renames the file with the password of the first user if the start that
// created the user was cut short, for example by a power failure. It removes the file if
// the user was created with another password.
func (f *firstStart) finishPassword(ctx context.Context) error {
	final := f.path(adminPasswordFile)
	temporary := final + newSuffix
	text, err := os.ReadFile(temporary)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		f.log.Warn("the file with the password of the first user, admin, of a start that was cut short"+
			" cannot be read; make the service's user its owner, or delete it",
			"err", datadir.CheckAccess(temporary))
		return nil
	}
	if err != nil {
		return err
	}

	err = f.accounts.CheckPassword(ctx, account.Login{
		UserName: account.FirstUser,
		Password: strings.TrimSpace(string(text)),
	})
	if fault.Is(err, fault.Unauthorized) {
		return os.Remove(temporary)
	}
	if err != nil {
		return err
	}

	if err := f.disk.Rename(temporary, final); err != nil {
		f.log.Warn("the file with the password of the first user, admin, cannot be renamed",
			"file", temporary, "err", err)
		return nil
	}
	f.log.Warn("the password of the first user, admin, is in a file of a start that was cut short", "file", final)
	return nil
}

// demoKeyName is the name of the API key that a demo store has while the setting
// demo is on. Each start replaces the key, so that the commands in the banner can
// be copied as they are.
const demoKeyName = "demo"

// replaceDemoKey removes the key of the previous start, and creates a new one for a
// demo store, which is marked by the key's file.
func (f *firstStart) replaceDemoKey(ctx context.Context) error {
	if !isDemoStore(f.config) {
		return nil
	}
	system := f.accounts.As(audit.System())
	err := system.RemoveKey(ctx, demoKeyName)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if !f.config.Demo {
		return os.Remove(f.path(demoKeyFile))
	}
	f.demoKey, _, err = system.AddKey(ctx, account.NewKey{Name: demoKeyName, Role: account.Writer})
	if err != nil {
		return err
	}
	return writeSecret(f.disk, f.path(demoKeyFile), f.demoKey)
}

// onTerminal reports whether output goes to a terminal, not to a file or pipe.
func (f *firstStart) onTerminal() bool {
	file, ok := f.out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// banner prints the service's URL and commands to try, in one piece. Secrets are printed on
// a terminal only: other output may end up in a log.
func (f *firstStart) banner(url string) {
	var text bytes.Buffer
	f.writeBanner(&text, url)
	_, _ = f.out.Write(text.Bytes()) // without a reader, the service runs nevertheless
}

// writeBanner writes the text of the banner.
func (f *firstStart) writeBanner(out io.Writer, url string) {
	fmt.Fprintf(out, "\nwhd %s serves %s\n", f.config.Start.Version, url)
	if f.password != "" && !f.onTerminal() {
		fmt.Fprintf(out, "  user admin, password in %s\n", f.path(adminPasswordFile))
	}
	if f.demoKey == "" {
		return
	}
	key := f.demoKey
	if !f.onTerminal() {
		key = "$(cat " + quotedForShell(f.path(demoKeyFile)) + ")"
	}
	billID, stageID, settingID := demo.BillExample()
	fmt.Fprintf(out, `  demo key (role writer, until the next start) in %[3]s: %[1]s

Try, in another terminal:
  curl -H "Authorization: Bearer %[1]s" "%[2]s/Queries/SO_Totals?Take=3&OrderByDesc=InvoiceTotal"
  curl -H "Authorization: Bearer %[1]s" "%[2]s/csv/reply/IN_ColoursQuery" -d '{"DescriptionContains":"steel"}'
  curl -X PATCH -H "Authorization: Bearer %[1]s" "%[2]s/Bills/%[4]s/Stages/%[5]s/CustomFieldValues/%[6]s" -d '{"Contents":"Assembly"}'
  WHCTL_URL=%[2]s WHCTL_TOKEN="%[1]s" bin/whctl query SO_Totals --format csv

`, key, url, f.path(demoKeyFile), billID, stageID, settingID)
	if !f.config.ERP.DemoActivity || !f.publishes("stocktake") {
		return
	}
	fmt.Fprintf(out, `The demo changes stock takes and invoices every %[3]d seconds. Receive an event for each
change, signed, and see it arrive:
  export WHCTL_URL=%[1]s WHCTL_USER=admin WHCTL_PASSWORD="$(cat %[2]s)"
  bin/whctl subscriptions create "$(bin/whctl subscribers create Demo)" "stocktake.*" %[1]s/Webhooks/Test
  bin/whctl listen --event "stocktake.*"

`, url, quotedForShell(f.path(adminPasswordFile)), activityInterval/time.Second)
}

// publishes reports whether changes of a record kind publish events of a family.
func (f *firstStart) publishes(family string) bool {
	kinds := f.config.ERP.Kinds.Registry().Kinds()
	return slices.ContainsFunc(kinds, func(k *record.Kind) bool { return k.Events == family })
}

// quotedForShell quotes a path for a Unix shell.
func quotedForShell(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
