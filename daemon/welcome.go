package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"golang.org/x/term"
)

// isTerminal reports whether what is written to w is read by a person now,
// rather than kept.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// greeting is what a person who starts the daemon by hand wants to know.
type greeting struct {
	password string // of the first user, made up at this start
	key      string // of the demo
}

// demoKey is the name of the API key that a demo store has while it is served
// as one. Each start with demo records makes it anew, so that the commands of
// the greeting work as they stand.
const demoKey = "demo"

// makeDemoKey ends the key of an earlier start, and makes one for a store that
// was filled with demo records, which the key's file is the sign of.
func (d *Daemon) makeDemoKey(ctx context.Context) error {
	path := filepath.Join(d.config.DataDir, demoKeyFile)
	_, err := os.Stat(path)
	had := err == nil
	if had {
		if err := d.accounts.As(audit.Itself()).RemoveKey(ctx, demoKey); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	if had && !d.config.Demo {
		return os.Remove(path)
	}
	if !d.config.Demo || !had && !d.demoFilled {
		return nil
	}
	secret, _, err := d.accounts.As(audit.Itself()).AddKey(ctx, account.NewKey{Name: demoKey, Role: account.Writer})
	if err != nil {
		return err
	}
	d.greeting.key = secret
	return d.writePrivate(demoKeyFile, secret)
}

// demoKeyFile holds the demo's key for the README's commands.
const demoKeyFile = "demo-key"

// SecretFiles are the files of the data directory that hold a secret of its store.
func SecretFiles() []string { return []string{adminPasswordFile, demoKeyFile} }

// writePrivate puts a secret into a file of the data directory that only the
// daemon's user can read.
func (d *Daemon) writePrivate(name, secret string) error {
	path := filepath.Join(d.config.DataDir, name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // an older file could be open to others
	}
	return os.WriteFile(path, []byte(secret+"\n"), 0o600)
}

// welcome tells a person where the service is and what to try. Secrets are
// shown on a terminal only: what is written elsewhere may be kept.
func (d *Daemon) welcome() {
	url, person := d.URL(), isTerminal(d.out)
	fmt.Fprintf(d.out, "\nwhd %s serves %s\n", Version(), url)
	if d.greeting.password != "" && !person {
		fmt.Fprintf(d.out, "  user admin, password in %s\n", filepath.Join(d.config.DataDir, adminPasswordFile))
	}
	if d.greeting.key == "" {
		return
	}
	file := filepath.Join(d.config.DataDir, demoKeyFile)
	key := d.greeting.key
	if !person {
		key = fmt.Sprintf(`$(cat %q)`, file)
	}
	fmt.Fprintf(d.out, `  demo key (role writer, until the next start) in %[3]s: %[1]s

Try, in another terminal:
  curl -H "Authorization: Bearer %[1]s" "%[2]s/Queries/SO_Totals?Take=3&OrderByDesc=InvoiceTotal"
  curl -H "Authorization: Bearer %[1]s" "%[2]s/csv/reply/IN_ColoursQuery" -d '{"DescriptionContains":"steel"}'
  %[4]s
  WHCTL_URL=%[2]s WHCTL_TOKEN="%[1]s" bin/whctl query SO_Totals --format csv

`, key, url, file, billCommand(url, key))
}
