package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/service"
)

// Run runs a daemon from start to shutdown.
type Run struct {
	Config     config.Config
	Out        io.Writer // for the user at the terminal
	Log        *slog.Logger
	FlushLog   func() // waits until the lines so far are written; nil if Log does not queue them
	Supervisor *service.Supervisor
	Reloads    <-chan os.Signal              // signals that request a reload of the settings
	Reread     func() (config.Config, error) // reads the settings; nil disables reloading
}

// Serve runs the daemon until ctx is done, the supervisor stops it, or a listener
// fails.
func (r Run) Serve(ctx context.Context) error {
	d, err := New(ctx, r.Config, r.Out, r.Log)
	if err != nil {
		return r.startError(ctx, err)
	}
	err = r.startAndWait(ctx, d)
	delay := r.Config.HTTP.ShutdownDelay
	if err != nil {
		delay = 0 // there are no requests to wait for
	}
	return errors.Join(err, r.stop(ctx, d, delay))
}

// startAndWait starts the daemon and waits until it has to stop.
func (r Run) startAndWait(ctx context.Context, d *Daemon) error {
	if err := d.Start(ctx); err != nil {
		return r.startError(ctx, err)
	}
	r.banner(d)
	return r.wait(ctx, d)
}

// banner prints the banner below the log lines of the start, not between them.
func (r Run) banner(d *Daemon) {
	if r.FlushLog != nil {
		r.FlushLog()
	}
	d.first.banner(d.URL())
}

// startError returns the error of a failed start, nil if the start was cancelled.
func (r Run) startError(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	r.Log.Info("stopped during start", "reason", err.Error())
	return nil
}

// wait handles reload requests until ctx is done, the supervisor stops the daemon, or
// a listener fails.
func (r Run) wait(ctx context.Context, d *Daemon) error {
	watched, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Supervisor.Watch(watched, func(ctx context.Context) error { return checkHealth(ctx, d.URL()) })
	}()
	defer func() {
		end()
		<-ended
	}()
	r.Supervisor.Ready("serves " + d.URL())
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-d.listeners.failed:
			return err
		case <-r.Reloads:
			r.reload(d)
		case order := <-r.Supervisor.Orders():
			if order == service.Stop {
				return nil
			}
			r.reload(d)
		}
	}
}

// reload reloads the settings and the certificates. Invalid settings are logged and
// ignored.
func (r Run) reload(d *Daemon) {
	if r.Reread == nil {
		return
	}
	r.Supervisor.Reloading()
	status := "serves " + d.URL()
	if err := r.applySettings(d); err != nil {
		for problem := range strings.SplitSeq(err.Error(), "\n") {
			d.log.Error("cannot reload the settings; the previous ones stay in effect", "problem", problem)
		}
		status += " with the previous settings: " + err.Error()
	}
	for _, pair := range d.listeners.certificates {
		if err := pair.reopen(); err != nil {
			d.log.Warn(certificateNotReloaded, "error", err.Error())
		}
	}
	r.Supervisor.Ready(status)
}

// applySettings reads the settings and applies those that may change while the
// daemon runs.
func (r Run) applySettings(d *Daemon) error {
	next, err := r.Reread()
	if err != nil {
		return err
	}
	for _, warning := range next.Start.Warnings {
		d.log.Warn("settings", "warning", warning)
	}
	changed, needRestart, err := d.Reload(next)
	if err != nil {
		return err
	}
	d.log.Info("settings reloaded", "file", next.File, "changed", strings.Join(changed, ", "))
	if needRestart != nil {
		d.log.Warn("some changed settings take effect after a restart", "settings", strings.Join(needRestart, ", "))
	}
	return nil
}

// stop shuts the daemon down: for delay it keeps serving while /readyz fails, then
// requests in flight get the grace period to finish.
func (r Run) stop(ctx context.Context, d *Daemon, delay time.Duration) error {
	grace := r.Config.HTTP.ShutdownGrace
	d.log.Info("stopping", "delay", delay, "grace", grace)
	d.rest.MarkStopping()
	r.Supervisor.Stopping(delay + grace + stopMargin)
	time.Sleep(delay) // a second signal ends the process during this
	graceCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return d.Stop(graceCtx)
}

// stopMargin is the time allowed for the rest of the shutdown after the grace period.
const stopMargin = 15 * time.Second

// healthClient opens a new connection for each request, which also tests the
// listener. It does not verify the certificate, which may be for another host name.
var healthClient = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true,
	TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
}}

// checkHealth requests /healthz over the daemon's own listener at url. It
// returns an error unless the status is 200.
func checkHealth(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", nil)
	if err != nil {
		return err
	}
	reply, err := healthClient.Do(request)
	if err != nil {
		return err
	}
	if reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("/healthz returned status %s", reply.Status)
	}
	return errors.Join(err, reply.Body.Close())
}
