package preflight

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/descriptors"
)

const (
	minFree        = 64 << 20 // bytes; with less, the check of an embedded store fails
	lowFree        = 1 << 30  // bytes; with less, the check warns
	maxClockOffset = 5 * time.Second
)

// checkDirectory checks the permissions and the free space of the data directory.
func checkDirectory(_ context.Context, r *run) (results []check.Result) {
	dir := r.config.DataDir
	info, err := os.Stat(dir)
	if err == nil {
		err = writable(dir)
	}
	if err != nil {
		return result(check.Failed, "%s", directoryProblem(dir, err))
	}
	isPrivate := runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0
	if !isPrivate {
		results = append(results,
			result(check.Warning, "%s is accessible to other users (%v); restrict it with chmod 700",
				dir, info.Mode().Perm())...)
	}
	results = append(results, checkOwners(dir)...)
	free, err := datadir.FreeSpace(dir)
	switch {
	case err != nil:
		results = append(results, result(check.Warning, "cannot determine the free space in %s: %v", dir, err)...)
	case free < minFree && !r.config.Store.OnServer():
		results = append(results, result(check.Failed, "only %s are free in %s", display.Size(free), dir)...)
	case free < lowFree:
		results = append(results, result(check.Warning, "only %s are free in %s", display.Size(free), dir)...)
	case results == nil:
		results = result(check.OK, "%s, %s free", dir, display.Size(free))
	}
	return results
}

// checkOwners warns about files that a service which runs as the owner of the data directory
// cannot use, for example since an earlier build has created them as root. It does not depend on
// the user of this process, which may be root.
func checkOwners(dir string) (results []check.Result) {
	problems, err := datadir.CheckOwners(dir)
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	for _, p := range problems {
		results = append(results,
			result(check.Warning, "%v; make the service's user the owner of all files in the directory", p)...)
	}
	return limited(results)
}

// writable returns an error if a file cannot be created in a directory.
func writable(dir string) error {
	file, err := datadir.CreateTemp(dir, ".check-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// checkDescriptors warns about a low limit of open files. It checks the limit of this process,
// which may differ from that of the service.
func checkDescriptors(context.Context, *run) []check.Result {
	limit := descriptors.Limit()
	if limit == 0 {
		return result(check.Skipped, "")
	}
	if limit < descriptors.Recommended {
		return result(check.Warning, "the limit of this process is %d open files and connections;"+
			" set the limit of the service to %d or more (LimitNOFILE of systemd, ulimit -n)",
			limit, descriptors.Recommended)
	}
	return result(check.OK, "%d", limit)
}

// checkClock compares this host's clock with the server's. Sessions and messages use the
// server's clock, logs this host's.
func checkClock(ctx context.Context, r *run) []check.Result {
	if !r.config.Store.OnServer() || r.store == nil {
		return result(check.Skipped, "")
	}
	start := time.Now()
	serverTime, err := r.store.Webhooks.Engine.Now(ctx)
	if err != nil {
		return result(check.Failed, "cannot read the server's clock: %v", err)
	}
	took := time.Since(start)
	offset := serverTime.Sub(start.Add(took / 2)).Round(time.Millisecond)
	if offset.Abs() > maxClockOffset+took {
		return result(check.Warning, "this host's clock is %s the server's;"+
			" times in logs and of messages will differ; %s", describeOffset(offset), clockRemedy(runtime.GOOS))
	}
	return result(check.OK, "%s the server's", describeOffset(offset))
}

func describeOffset(offset time.Duration) string {
	if offset > 0 {
		return fmt.Sprintf("%v behind", offset)
	}
	return fmt.Sprintf("%v ahead of", -offset)
}

// checkCertificate checks that the certificate can be loaded, and when it is valid.
func checkCertificate(_ context.Context, r *run) []check.Result {
	if r.config.TLS.Cert == "" {
		return result(check.Skipped, "")
	}
	pair, err := r.config.TLS.Load()
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	return validity(pair.Leaf, time.Now())
}

// validity returns the result for a certificate by the times in it.
func validity(certificate *x509.Certificate, now time.Time) []check.Result {
	start := certificate.NotBefore.Format(time.RFC3339)
	expiry := certificate.NotAfter.Format(time.RFC3339)
	switch {
	case now.Before(certificate.NotBefore):
		return result(check.Failed, "not valid before %s; replace it, or correct the clock of this machine", start)
	case now.After(certificate.NotAfter):
		return result(check.Failed, "expired at %s; renew it", expiry)
	case certificate.NotAfter.Sub(now) < check.Renewal:
		return result(check.Warning, "expires at %s; renew it", expiry)
	}
	return result(check.OK, "valid until %s", expiry)
}
