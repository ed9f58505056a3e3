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

// life is one run of a daemon, from its start to its end.
type life struct {
	config     config.Config
	out        io.Writer
	log        *slog.Logger
	supervisor *service.Supervisor
	reloads    <-chan os.Signal                               // which ask to read the settings again
	again      func() (config.Config, *config.Origins, error) // reads them; nil for never
}

// Run is the daemon's life: it serves until ctx is done, then stops.
func Run(ctx context.Context, c config.Config, out io.Writer, log *slog.Logger) error {
	alone, err := service.Find(nil)
	if err != nil {
		return err
	}
	return life{config: c, out: out, log: log, supervisor: alone}.run(ctx)
}

func (l life) run(ctx context.Context) error {
	d, err := New(ctx, l.config, l.out, l.log)
	if err != nil {
		return l.early(ctx, err)
	}
	delay := l.config.HTTP.ShutdownDelay
	if err = d.Start(ctx); err == nil {
		d.welcome()
		err = l.attend(ctx, d)
	} else {
		err = l.early(ctx, err)
	}
	if err != nil {
		delay = 0 // nobody is served any more
	}
	return errors.Join(err, l.stop(ctx, d, delay))
}

// early is the error of a start that did not succeed: none if the daemon was told
// to end before.
func (l life) early(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	l.log.Info("stopped before it served", "reason", err.Error())
	return nil
}

// attend does what signals and the supervisor ask for, until one of them asks for
// the end, or a listener fails.
func (l life) attend(ctx context.Context, d *Daemon) error {
	watched, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.supervisor.Watch(watched, d.answers)
	}()
	defer func() { end(); <-ended }()
	l.supervisor.Ready("serves " + d.URL())
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-d.failed:
			return err
		case <-l.reloads:
			l.reload(d)
		case order := <-l.supervisor.Orders():
			if order == service.Stop {
				return nil
			}
			l.reload(d)
		}
	}
}

// reload reads the settings and certificates again. Where something is wrong with
// the settings, those of before stay.
func (l life) reload(d *Daemon) {
	if l.again == nil {
		return
	}
	l.supervisor.Reloading()
	how := "serves " + d.URL()
	if err := l.change(d); err != nil {
		for problem := range strings.SplitSeq(err.Error(), "\n") {
			d.log.Error("the settings cannot be read again; those of before stay", "problem", problem)
		}
		how += " with settings of before: " + err.Error()
	}
	for _, pair := range d.certificates {
		if err := pair.reopen(); err != nil {
			d.log.Warn("the certificate cannot be read again; the last one serves on", "error", err.Error())
		}
	}
	l.supervisor.Ready(how)
}

// change goes over to the settings as they are told now.
func (l life) change(d *Daemon) error {
	again, origins, err := l.again()
	if err != nil {
		return err
	}
	for _, warning := range origins.Warnings {
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
func (l life) stop(ctx context.Context, d *Daemon, delay time.Duration) error {
	grace := l.config.HTTP.ShutdownGrace
	d.log.Info("stopping", "delay", delay, "grace", grace)
	d.rest.Leave()
	l.supervisor.Stopping(delay + grace + stopMargin)
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
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL()+"/healthz", nil)
	if err != nil {
		return err
	}
	reply, err := ownClient.Do(r)
	if err != nil {
		return err
	}
	if reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("/healthz answers %s", reply.Status)
	}
	return errors.Join(err, reply.Body.Close())
}
