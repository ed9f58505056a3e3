package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/descriptors"
)

const (
	minFree        = 64 << 20 // bytes; with less, the check of an embedded store fails
	lowFree        = 1 << 30  // bytes; with less, the check warns
	maxClockOffset = 5 * time.Second
	certWarning    = 14 * 24 * time.Hour
)

// checkDirectory checks the permissions and the free space of the data directory.
func checkDirectory(_ context.Context, r *run) (results []check.Result) {
	dir := r.config.DataDir
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return result(check.Failed, "%s does not exist", dir)
	}
	if err == nil {
		err = writable(dir)
	}
	if err != nil {
		return result(check.Failed, "%s", directoryProblem(err))
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
		results = append(results, result(check.Failed, "only %s are free in %s", roundSize(free), dir)...)
	case free < lowFree:
		results = append(results, result(check.Warning, "only %s are free in %s", roundSize(free), dir)...)
	case results == nil:
		results = result(check.OK, "%s, %s free", dir, roundSize(free))
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

// roundSize formats a size in MiB or GiB.
func roundSize(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
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
			" set that of the service to %d or more (LimitNOFILE of systemd, ulimit -n)",
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
			" times in logs and of messages will differ; %s", describeOffset(offset), clockRemedy.here())
	}
	return result(check.OK, "%s the server's", describeOffset(offset))
}

func describeOffset(offset time.Duration) string {
	if offset > 0 {
		return fmt.Sprintf("%v behind", offset)
	}
	return fmt.Sprintf("%v ahead of", -offset)
}

// checkCertificate checks that the certificate can be loaded, and its expiry.
func checkCertificate(_ context.Context, r *run) []check.Result {
	if r.config.TLS.Cert == "" {
		return result(check.Skipped, "")
	}
	pair, err := r.config.TLS.Load()
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	return validity(pair.Leaf.NotAfter)
}

// validity returns the result for a certificate by its expiry.
func validity(notAfter time.Time) []check.Result {
	expiry := notAfter.Format(time.RFC3339)
	remaining := time.Until(notAfter)
	if remaining < 0 {
		return result(check.Failed, "expired at %s", expiry)
	}
	if remaining < certWarning {
		return result(check.Warning, "expires at %s", expiry)
	}
	return result(check.OK, "valid until %s", expiry)
}
