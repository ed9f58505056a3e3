package changes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/erp/source"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/sender"
)

// versions is a source of records in a file with a column of numbers that ascend with each
// change, as rowversions on SQL Server do.
type versions struct {
	*source.Source
	conn   *sqlite.Conn
	column int // of the kind
}

// Table returns the table with its column of versions for stamps.
func (v versions) Table(ctx context.Context, kind *record.Kind) (changes.Table, error) {
	t, err := v.Source.Table(ctx, kind)
	t.Stamp = v.column
	t.Version = true
	t.Pollable = true
	return t, err
}

// Database implements changes.Source. Like the server's, it costs a statement for all kinds.
func (v versions) Database(ctx context.Context) (changes.Database, error) {
	d, err := v.Source.Database(ctx)
	latest, _, failed := v.conn.QueryInt("SELECT MAX(Version) FROM Versioned")
	d.Latest = binary.BigEndian.AppendUint64(nil, uint64(latest))
	d.Active = binary.BigEndian.AppendUint64(nil, uint64(latest+1))
	return d, errors.Join(err, failed)
}

// versionedRows creates the records of a kind with such a column.
var versionedRows = append(createTable("Versioned", latencyRows),
	"ALTER TABLE Versioned ADD COLUMN Version INTEGER",
	"UPDATE Versioned SET Version = _rowid_",
	"CREATE UNIQUE INDEX Versioned_Version ON Versioned (Version)")

// versionToPost measures the time from the commit of a row with an indexed rowversion to the
// POST of its event. The capture, the engine and the stores are those of the daemon, in this
// process, since a file has no rowversions.
func versionToPost(s *suite, b *testing.B) {
	settings := always + "\nevents = \"versioned\"\nstamp = \"Version\""
	h := prepare(b, kindText("Versioned", settings)+"Version = \"long\"\n", versionedRows...)
	stop := h.launch(b)
	got := newReceived()
	h.subscribe(b, "versioned.updated", listen(b, got.add), true)
	stop()
	capturing, end := h.capture(b)
	defer end()
	for start := time.Now(); !isCapturing(capturing); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > testTimeout {
			b.Fatalf("the capture does not start within %v: %+v", testTimeout, capturing.Status())
		}
	}
	nextVersion := func(n int) string { return fmt.Sprintf("Version = %d", latencyRows+1+n) }
	s.latency(b, h, got, nextVersion, "Versioned", "number that ascends as rowversions do (polled every s)", 1.5, 4)
}

// isCapturing reports whether a capture has read the table for the first time.
func isCapturing(c *changes.Capturer) bool {
	status := c.Status()
	return len(status) > 0 && status[0].Phase == changes.Capturing
}

// capture captures the changes of a data directory in this process.
func (h *benchDaemon) capture(b *testing.B) (_ *changes.Capturer, end func()) {
	b.Helper()
	ctx := context.Background()
	config, err := daemontest.Settings(append([]string{"--data-dir", h.dir}, h.args...))
	if err != nil {
		b.Fatal(err)
	}
	registry := kinds.Load(filepath.Join(h.dir, "kinds.toml")).Registry()
	store, err := storage.Open(ctx, storage.Config{Dir: h.dir, Registry: registry, Connections: 4})
	if err != nil {
		b.Fatal(err)
	}
	if err := store.Changes.Remove(ctx, "Versioned"); err != nil { // captured by the daemon, by sweeps
		b.Fatal(err)
	}
	records, err := source.New(store.Records, time.UTC)
	if err != nil {
		b.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	rules := webhook.Rules{
		Guard: webhook.Guard{
			Allow:  config.Webhooks.AllowTargets,
			IsSelf: func(netip.AddrPort) bool { return false },
		},
		MayRead: func(string, *record.Kind) bool { return true },
	}
	rules.Events, rules.Captured = config.Webhooks.PublishedEvents(registry)
	posts := sender.New(sender.Config{
		Guard:          rules.Guard,
		ConnectTimeout: time.Minute,
		AttemptTimeout: func() time.Duration { return time.Minute },
		MaxIdlePerHost: 10,
	})
	engine := delivery.New(delivery.Config{
		Store:     store.Webhooks.Engine,
		Sender:    posts,
		Log:       log,
		Attempts:  config.Webhooks.MaxAttempts,
		Memory:    int(config.Webhooks.Memory),
		Rules:     func() webhook.Rules { return rules },
		Policy:    config.Webhooks.Policy,
		Retention: config.Webhooks.Retention,
	})
	if err := engine.Start(ctx); err != nil {
		b.Fatal(err)
	}
	kind, _ := registry.Lookup("Versioned")
	column, _ := kind.Column("Version")
	settings := config.ERP.Changes
	c := changes.New(changes.Config{
		Source:    versions{records, h.records, column},
		Store:     store.Changes,
		Publisher: engine,
		Log:       log,
		Secret:    make([]byte, 16),
		Named:     engine.Named,
		Kinds:     registry.Kinds,
		Settings: func() changes.Settings {
			return changes.Settings{
				Share:   float64(settings.Share),
				Sweep:   settings.Sweep,
				Overlap: settings.Overlap,
				Keep:    settings.Keep,
				MaxSize: int64(settings.KeepSize),
			}
		},
	})
	run, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Run(run)
	}()
	return c, func() {
		cancel()
		<-ended
		err := errors.Join(engine.Stop(ctx), records.Close(), store.Close())
		posts.Close()
		if err != nil {
			b.Error(fmt.Errorf("closing the capture: %w", err))
		}
	}
}
