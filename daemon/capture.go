package daemon

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/erp/source"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// capture finds the changes of record kinds, and has their feed. It exists if webhooks are
// enabled, and starts when the service's tables are up to date.
type capture struct {
	settings *liveSettings
	store    *storage.Store
	engine   *delivery.Engine
	log      *slog.Logger
	source   *source.Source
	started  atomic.Pointer[changes.Capturer]
}

// errNotStarted is the error until the capture has started.
var errNotStarted = fault.New(fault.Unavailable,
	"the capture of changes has not started, because the service's tables are outdated; run whd migrate")

// start starts the capture, once the service's tables are up to date.
func (c *capture) start(ctx context.Context, l *lifecycle) error {
	err := c.startCapturer(ctx, l)
	if errors.Is(err, appdb.ErrOutdated) {
		l.repeat("start of capture", tablesInterval, func(ctx context.Context) bool {
			return c.startCapturer(ctx, l) == nil
		})
		return nil
	}
	return err
}

// startCapturer starts the capture. It fails with appdb.ErrOutdated until the tables are up to date.
func (c *capture) startCapturer(ctx context.Context, l *lifecycle) error {
	if err := c.store.AppDB.Ready(ctx); err != nil {
		return err
	}
	secret, err := appdb.Secret(ctx, c.store.AppDB, "Shadow")
	if err != nil {
		return err
	}
	capturer := changes.New(changes.Config{
		Source:    c.source,
		Store:     c.store.Changes,
		Publisher: c.engine,
		Log:       c.log,
		Secret:    secret[:16],
		Named:     c.engine.Named,
		Compared:  c.engine.Compared,
		Kinds:     func() []*record.Kind { return c.settings.current().ERP.Kinds.Registry().Kinds() },
		Settings: func() changes.Settings {
			s := c.settings.current().ERP.Changes
			return changes.Settings{
				Share:   float64(s.Share),
				Sweep:   s.Sweep,
				Overlap: s.Overlap,
				Keep:    s.Keep,
				MaxSize: int64(s.KeepSize),
			}
		},
	})
	c.started.Store(capturer)

	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		capturer.Run(run)
	}()
	l.onStop("capture", func(context.Context) error {
		cancel()
		<-ended
		return nil
	})
	return nil
}

// feed returns the feed of changes. It fails until the capture has started.
func (c *capture) feed() (changes.Feed, error) {
	capturer := c.started.Load()
	if capturer == nil {
		return changes.Feed{}, errNotStarted
	}
	return changes.Feed{Capturer: capturer}, nil
}

// ofQueries returns the feed of changes for queries.
func (c *capture) ofQueries() (queries.Feed, error) {
	f, err := c.feed()
	return queriesFeed{f}, err
}

// queriesFeed is a feed that returns its copies as the interface of package queries.
type queriesFeed struct{ changes.Feed }

// Copy starts a copy.
func (f queriesFeed) Copy(ctx context.Context, kind *record.Kind, token string) (queries.Copy, error) {
	return f.Feed.Copy(ctx, kind, token)
}

// List returns the state of all captures, by kind. Captures of other daemons have no counts and no
// lag.
func (c *capture) List(ctx context.Context) ([]wire.Capture, error) {
	f, err := c.feed()
	if err != nil {
		return nil, err
	}
	stored, err := c.store.Changes.Captures(ctx)
	if err != nil {
		return nil, err
	}
	captures := make([]wire.Capture, 0, len(stored))
	running := f.Status()
	registry := c.settings.current().ERP.Kinds.Registry()
	for _, s := range stored {
		capture := wire.Capture{
			Kind:   s.Kind,
			Phase:  string(s.State.Phase),
			Reason: s.State.Reason,
			Manual: s.State.Manual,
			Rows:   s.State.Rows,
			Swept:  wire.Timestamp(s.State.Swept),
			Sweep:  wire.TimeSpan(time.Duration(s.State.Took) * time.Millisecond),
			Kept:   s.Next - s.FirstKept,
			Needed: wire.Timestamp(s.State.Needed),
		}
		if kind, ok := registry.Lookup(s.Kind); ok {
			capture.Mode = kind.Capture
			capture.Events = kind.Events
		}
		isHere := func(r changes.Status) bool { return r.Kind == s.Kind && r.Phase != "" }
		if i := slices.IndexFunc(running, isHere); i >= 0 {
			setStatus(&capture, running[i])
		}
		captures = append(captures, capture)
	}
	captures = append(captures, notRequested(registry, captures, f.Needed)...)
	slices.SortFunc(captures, func(a, b wire.Capture) int { return strings.Compare(a.Kind, b.Kind) })
	return captures, nil
}

// notRequested returns the captures on demand that nothing has requested. known are the others.
func notRequested(r *record.Registry, known []wire.Capture, needed func(*record.Kind) bool) []wire.Capture {
	var captures []wire.Capture
	for _, kind := range r.Kinds() {
		isKnown := slices.ContainsFunc(known, func(c wire.Capture) bool { return c.Kind == kind.Name })
		if kind.Capture != record.CaptureOnDemand || isKnown || needed(kind) {
			continue
		}
		captures = append(captures, wire.Capture{
			Kind:   kind.Name,
			Mode:   kind.Capture,
			Phase:  wire.CaptureNotRequested,
			Reason: "nothing requests its changes: " + webhook.HowToRequest(kind),
			Events: kind.Events,
		})
	}
	return captures
}

// setStatus sets the members of a capture that runs in this daemon.
func setStatus(capture *wire.Capture, s changes.Status) {
	capture.Phase = string(s.Phase)
	capture.Reason = s.Reason
	capture.Rows = s.Rows
	capture.Lag = wire.TimeSpan(s.Lag)
	capture.SweptRows = s.Swept
	capture.Created = s.Changes[changes.Created]
	capture.Updated = s.Changes[changes.Updated]
	capture.Deleted = s.Changes[changes.Deleted]
}

// Resume resumes the capture of a kind, and records that in the audit trail.
func (c *capture) Resume(ctx context.Context, actor audit.Actor, kind *record.Kind, mode string) error {
	f, err := c.feed()
	if err != nil {
		return err
	}
	if err := f.CanResume(kind.Name); err != nil {
		return err
	}
	entry := audit.Entry{
		Actor:   actor,
		At:      time.Now().UTC(),
		Action:  audit.ResumeCapture,
		Subject: kind.Name,
		Detail:  mode,
	}
	if err := c.store.Webhooks.Admin.AddAuditEntry(ctx, entry); err != nil {
		return err
	}
	return f.Resume(kind.Name, changes.Resumption(mode))
}
