package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
)

const (
	leastFree   = 64 << 20 // bytes, below which the embedded store soon stands still
	enoughFree  = 1 << 30  // bytes
	clockOff    = 5 * time.Second
	certExpires = 14 * 24 * time.Hour
)

// lookAtDirectory looks at the rights on the data directory and at the room that
// is left.
func lookAtDirectory(_ context.Context, n *inspection) (all []verdict) {
	dir := n.config.DataDir
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return is(wrong, "%s does not exist", dir)
	}
	if err == nil {
		err = writable(dir)
	}
	if err != nil {
		return is(wrong, "%v", err)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 && runtime.GOOS != "windows" {
		all = append(all, is(doubt, "%s is open to other users (%v); chmod 700 keeps the company's records from them", dir, info.Mode().Perm())...)
	}
	free, err := datadir.Free(dir)
	switch {
	case err != nil:
		all = append(all, is(doubt, "the room that is left in %s cannot be told: %v", dir, err)...)
	case free < leastFree && n.config.Store == config.Embedded:
		all = append(all, is(wrong, "only %s are free in %s", roundSize(free), dir)...)
	case free < enoughFree:
		all = append(all, is(doubt, "only %s are free in %s", roundSize(free), dir)...)
	case all == nil:
		all = is(fine, "%s, %s free", dir, roundSize(free))
	}
	return all
}

func writable(dir string) error {
	file, err := os.CreateTemp(dir, ".check-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

func roundSize(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// lookAtClock compares this host's clock with the server's, which is the one that
// counts for logins and messages; that of logs is this host's.
func lookAtClock(ctx context.Context, n *inspection) []verdict {
	if n.config.Store == config.Embedded || n.store == nil {
		return is(skipped, "")
	}
	began := time.Now()
	at, err := n.store.Webhooks().Now(ctx)
	if err != nil {
		return is(wrong, "the server's clock cannot be read: %v", err)
	}
	took := time.Since(began)
	off := at.Sub(began.Add(took / 2)).Round(time.Millisecond)
	if off.Abs() > clockOff+took {
		return is(doubt, "this host's clock is %s the server's; times in logs are not those of messages", lateBy(off))
	}
	return is(fine, "%s the server's", lateBy(off))
}

func lateBy(off time.Duration) string {
	if off > 0 {
		return fmt.Sprintf("%v behind", off)
	}
	return fmt.Sprintf("%v ahead of", -off)
}

// lookAtCertificate looks whether the certificate can be used, and for how long.
func lookAtCertificate(_ context.Context, n *inspection) []verdict {
	if n.config.TLS.Cert == "" {
		return is(skipped, "")
	}
	pair, err := tls.LoadX509KeyPair(n.config.TLS.Cert, n.config.TLS.Key)
	if err != nil {
		return is(wrong, "tls.cert and tls.key: %v", err)
	}
	until := pair.Leaf.NotAfter
	switch left := time.Until(until); {
	case left < 0:
		return is(wrong, "it has expired at %s", until.Format(time.RFC3339))
	case left < certExpires:
		return is(doubt, "it expires at %s", until.Format(time.RFC3339))
	}
	return is(fine, "valid until %s", until.Format(time.RFC3339))
}
