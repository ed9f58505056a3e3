package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/bizhook/whd/daemon/store"
)

// settingsWatch is how often the daemon looks whether another one on the same
// server has changed settings.
const settingsWatch = 3 * time.Second

// openSettings reads what the service holds of the settings. Where our own
// tables on a server are behind, that waits until they are not.
func (d *Daemon) openSettings(ctx context.Context) error {
	d.settings.book, d.settings.log = d.store.Settings(), d.log
	version, saved, err := d.settings.read(ctx)
	behind := err != nil && errors.Is(d.store.Current(ctx), store.ErrBehind)
	if err != nil && !behind {
		return err
	}
	d.settings.take(version, saved)
	d.settings.news = d.settingsChanged
	if d.config.Store != embedded {
		d.watchSettings(behind)
	}
	return nil
}

// watchSettings looks for changes by other daemons. Of several failures in a row
// the first is logged.
func (d *Daemon) watchSettings(failing bool) {
	d.repeat("settings", settingsWatch, func(ctx context.Context) bool {
		err := d.settings.refresh(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			d.log.Warn("the settings that the service holds cannot be read; those of before are in force", "error", err.Error())
		}
		failing = err != nil
		return false
	})
}

// refresh reads what the service holds if that has changed.
func (l *liveSettings) refresh(ctx context.Context) error {
	version, err := l.book.Version(ctx)
	if err != nil || version <= l.state.Load().version {
		return err
	}
	version, saved, err := l.read(ctx)
	if err == nil {
		l.take(version, saved)
	}
	return err
}

// settingsChanged brings up to date what is derived from the settings.
func (d *Daemon) settingsChanged(c *Config) {
	if d.webhooks.engine == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), noteLimit)
	defer cancel()
	if err := d.store.Webhooks().SetDefaultRetries(ctx, len(c.Webhooks.RetrySchedule)); err != nil {
		d.log.Warn("the number of retries that is shown of messages is that of before", "error", err.Error())
	}
}

// noteLimit is how long it may take to note something that is only shown.
const noteLimit = 5 * time.Second
