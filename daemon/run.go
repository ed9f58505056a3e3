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

// Run is one run of a daemon, from its start to its end.
type Run struct {
	Config     config.Config
	Out        io.Writer // for the user at the terminal
	Log        *slog.Logger
	Supervisor *service.Supervisor
	Reloads    <-chan os.Signal              // which ask to read the settings again
	Reread     func() (config.Config, error) // reads them; nil for never
}

// Serve runs the daemon until ctx is done, or a signal or the supervisor ends it.
func (r Run) Serve(ctx context.Context) error {
	d, err := New(ctx, r.Config, r.Out, r.Log)
	if err != nil {
		return r.early(ctx, err)
	}
	delay := r.Config.HTTP.ShutdownDelay
	if err = d.Start(ctx); err == nil {
		d.first.banner(d.URL())
		err = r.attend(ctx, d)
	} else {
		err = r.early(ctx, err)
	}
	if err != nil {
		delay = 0 // no request is served any more
	}
	return errors.Join(err, r.stop(ctx, d, delay))
}

// early is the error of a start that did not succeed: none if the daemon was asked
// to end before.
func (r Run) early(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	r.Log.Info("stopped before it served", "reason", err.Error())
	return nil
}

// attend does what signals and the supervisor ask for, until one of them asks for
// the end, or a listener fails.
func (r Run) attend(ctx context.Context, d *Daemon) error {
	watched, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Supervisor.Watch(watched, d.answers)
	}()
	defer func() { end(); <-ended }()
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

// reload reads the settings and certificates again. Where something is wrong with
// the settings, those of before stay.
func (r Run) reload(d *Daemon) {
	if r.Reread == nil {
		return
	}
	r.Supervisor.Reloading()
	how := "serves " + d.URL()
	if err := r.change(d); err != nil {
		for problem := range strings.SplitSeq(err.Error(), "\n") {
			d.log.Error("the settings cannot be read again; those of before stay", "problem", problem)
		}
		how += " with settings of before: " + err.Error()
	}
	for _, pair := range d.listeners.certificates {
		if err := pair.reopen(); err != nil {
			d.log.Warn("the certificate cannot be read again; the last one serves on", "error", err.Error())
		}
	}
	r.Supervisor.Ready(how)
}

// change goes over to the settings as they are now.
func (r Run) change(d *Daemon) error {
	again, err := r.Reread()
	if err != nil {
		return err
	}
	for _, warning := range again.Ignored {
		d.log.Warn("settings", "warning", warning)
	}
	changed, waiting, err := d.Reload(again)
	if err != nil {
		return err
	}
	d.log.Info("the settings were read again", "file", again.File, "changed", strings.Join(changed, ", "))
	if waiting != nil {
		d.log.Warn("some settings have changed that wait for a restart", "settings", strings.Join(waiting, ", "))
	}
	return nil
}

// stop ends the daemon: it first says that it goes, for delay, and then gives what
// is in work its time.
func (r Run) stop(ctx context.Context, d *Daemon, delay time.Duration) error {
	grace := r.Config.HTTP.ShutdownGrace
	d.log.Info("stopping", "delay", delay, "grace", grace)
	d.rest.Leave()
	r.Supervisor.Stopping(delay + grace + stopMargin)
	time.Sleep(delay) // a second signal does not wait for it
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return d.Stop(within)
}

// stopMargin is what may be left to do when the grace is over.
const stopMargin = 15 * time.Second

// ownClient asks for a new connection each time, since an old one would show less.
// Whether others trust the certificate is not the question.
var ownClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// answers asks the daemon over its own listener whether it does.
func (d *Daemon) answers(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL()+"/healthz", nil)
	if err != nil {
		return err
	}
	reply, err := ownClient.Do(request)
	if err != nil {
		return err
	}
	if reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("/healthz answers %s", reply.Status)
	}
	return errors.Join(err, reply.Body.Close())
}
