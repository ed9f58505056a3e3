package crashtest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

var (
	rounds = flag.Int("rounds", 3, "how often a daemon is killed; a quarter of it, or a twentieth on a server, is the number of comparisons of copies")
	rate   = flag.Int("changes", 100, "changes per second")
	load   = flag.Duration("load", 3*time.Second, "time of writing before each comparison")
)

func TestMain(m *testing.M) { daemontest.Main(m) }

// timeout is the time limit of a condition.
const timeout = 5 * time.Minute

// await waits until a condition holds. state describes why it does not.
func await(t *testing.T, goal string, condition func() (done bool, state string)) {
	t.Helper()
	for deadline := time.Now().Add(timeout); ; {
		done, state := condition()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waiting until %s: %s", goal, state)
		}
		<-time.After(100 * time.Millisecond)
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// kills per round, of daemons and followers together.
const kills = 4

// TestCopiesAfterKills compares the copies that whctl mirror keeps with the source, after
// programs have written, and daemon and follower were killed at random moments. In some
// rounds the copies are loaded again while the programs write.
func TestCopiesAfterKills(t *testing.T) {
	program, err := daemontest.BuildWhctl(t.TempDir(), "-ldflags", "-s -w")
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []*engine{sqliteFile, sqlServer} {
		t.Run(engine.name, func(t *testing.T) {
			r := newCopyRun(t, program, engine)
			comparisons := max(*rounds/engine.killsPerComparison, 2)
			for round := range comparisons {
				r.round(t, round)
			}
			r.finish(t)
		})
	}
}

// copyRun is a run of TestCopiesAfterKills.
type copyRun struct {
	erp     *erp
	service *service
	client  *client.Client
	writers *writers
	reader  *stampReader
	mirror  *mirror
	markers *markers

	daemonKills, rows, lost int
	total                   differences
}

func newCopyRun(t *testing.T, program string, engine *engine) *copyRun {
	t.Helper()
	dir := t.TempDir()
	r := &copyRun{erp: newERP(t, dir, engine)}
	r.writers, r.markers = newWriters(t, r.erp, 200), newMarkers(t, r.erp)
	r.writers.fill(t)
	r.service = newService(t, dir, r.erp.args...)
	reader := ""
	admin := r.service.prepare(t, func(c *client.Client) {
		key, err := c.AddAPIKey(context.Background(), wire.APIKeyRequest{Name: "mirror", Role: "reader"})
		if err != nil {
			t.Fatal(err)
		}
		reader = key.Key
	})
	r.client = r.service.client(t, admin)
	r.mirror = &mirror{program: program, dir: t.TempDir(), url: r.service.url, token: reader}
	for _, tb := range r.erp.tables {
		r.mirror.kinds = append(r.mirror.kinds, tb.name)
	}
	r.reader = startStampReader(t, r.erp)
	r.service.Launch(t)
	r.mirror.start()
	t.Cleanup(func() { r.mirror.stop(t) })
	return r
}

// round lets the programs write while processes are killed, and compares the copies.
func (r *copyRun) round(t *testing.T, number int) {
	t.Helper()
	if number%5 == 1 {
		r.mirror.stop(t)
		r.mirror.forget(t)
		r.mirror.start()
	}
	r.writers.start(*rate)
	for n := range kills {
		<-time.After(rand.N(2 * *load / kills))
		if (number+n)%2 == 0 {
			r.mirror.kill()
			continue
		}
		if n == 1 { // otherwise it may be killed before it listens
			r.service.AwaitRestarting(t)
		}
		r.service.Kill(t)
		r.daemonKills++
		r.service.Launch(t)
	}
	r.reader.writeLate(t, r.markers.session, number)
	r.writers.stop()
	r.service.AwaitRestarting(t)
	r.settle(t)
	for _, tb := range r.erp.tables {
		r.compare(t, number, tb.name)
	}
}

// settle waits until the copies have all changes.
func (r *copyRun) settle(t *testing.T) {
	t.Helper()
	defer r.explain(t)
	r.markers.settle(t, r.client)
	for _, tb := range r.erp.tables {
		r.awaitCopy(t, tb.name, position(t, r.client, tb.name))
	}
}

// awaitCopy waits until a copy has the changes up to a position, and the last marker, which
// the last sweep may have missed.
func (r *copyRun) awaitCopy(t *testing.T, kind string, want int64) {
	t.Helper()
	await(t, fmt.Sprintf("the copy of %s is at %d", kind, want), func() (bool, string) {
		if _, err := os.Stat(r.mirror.path()); err != nil {
			return false, err.Error()
		}
		s := openFile(t, r.mirror.path())
		defer s.Close()
		done, state := false, "no copy"
		err := s.query(fmt.Sprintf("SELECT token, (SELECT Counter FROM %s WHERE No = 'marker') FROM _whd_mirror WHERE kind = '%[1]s'", kind), func(row []string) {
			at, err := wire.TokenPosition(row[0])
			done, state = err == nil && at >= want && row[1] == strconv.Itoa(r.markers.last), row[0]+", marker "+row[1]
		})
		return done, fmt.Sprintf("%s, %v", state, err)
	})
}

// explain prints the logs if the test has failed.
func (r *copyRun) explain(t *testing.T) {
	t.Helper()
	if t.Failed() {
		t.Logf("daemon:\n%s\nmirror:\n%s", lastLog(r.service.Dir, daemontest.ProcessLog), lastLog(r.mirror.dir, mirrorLog))
	}
}

// compare compares a copy with its source, and the rows of the reader by time.
func (r *copyRun) compare(t *testing.T, round int, name string) {
	t.Helper()
	source, err := readContents(r.markers.session, name)
	if err != nil {
		t.Fatal(err)
	}
	s := openFile(t, r.mirror.path())
	defer s.Close()
	copied, err := readContents(s, name)
	if err != nil {
		t.Fatal(err)
	}
	d, samples := copied.compare(source)
	r.rows += len(source)
	r.total.missing += d.missing
	r.total.extra += d.extra
	r.total.stale += d.stale
	if d != (differences{}) {
		t.Errorf("round %d: %s has %d rows; the copy has %d missing, %d extra, %d stale:\n%s",
			round, name, len(source), d.missing, d.extra, d.stale, strings.Join(samples, "\n"))
		r.explain(t)
	}
	if name == stamped {
		r.lost += r.reader.lost(t, source)
	}
}

func (r *copyRun) finish(t *testing.T) {
	t.Helper()
	r.mirror.stop(t)
	r.service.stop(t)
	r.writers.report(t)
	r.mirror.report(t)
	t.Logf("the daemon was killed %d times; %d rows compared: %d missing, %d extra, %d stale; a reader of LastSavedDateTime > last lacked %d rows",
		r.daemonKills, r.rows, r.total.missing, r.total.extra, r.total.stale, r.lost)
	if r.lost == 0 {
		t.Error("the reader by time has lost no rows: the writers are too tame")
	}
}
