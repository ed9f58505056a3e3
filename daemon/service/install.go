package service

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	manage "github.com/kardianos/service"
)

// Installation describes a service to install.
type Installation struct {
	Executable string // an absolute path
	Config     string // absolute path of the settings file
	Settings   []byte // initial content of that file, if it does not exist
	DataDir    string // absolute path of the data directory in that content
	Account    string // on Windows: its account; empty for a virtual account
	Firewall   bool   // on Windows: let other machines connect
}

// States of a service, as returned by Status.
const (
	Running      = "running"
	Stopped      = "stopped"
	Failed       = "failed"
	NotInstalled = "not installed"
)

// Install installs the service, without starting it: it will start at boot, with a
// dedicated account, and restart after failures. Install reports its steps to out.
func Install(i Installation, out io.Writer) error {
	s, err := i.managed()
	if err != nil {
		return err
	}
	if err := i.allow(); err != nil {
		return err
	}
	return i.install(s, out)
}

// UndoInstall removes the service, and a settings file that has not changed, after an installation
// that failed later, so that the next one starts with its own settings. The store of a service that
// has been started is kept.
func (i Installation) UndoInstall(out io.Writer) error {
	return errors.Join(Uninstall(out), i.removeNewSettings())
}

// removeNewSettings removes the settings file if it has the initial content.
func (i Installation) removeNewSettings() error {
	content, err := os.ReadFile(i.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !bytes.Equal(content, i.Settings) {
		return err
	}
	return os.Remove(i.Config)
}

// Uninstall stops and uninstalls the service. Its files and its account are kept. It succeeds if
// there is no service, since an administrator may have removed it before the installer does.
func Uninstall(out io.Writer) error {
	s, err := Installation{}.managed()
	if err != nil {
		return err
	}
	state, err := stateOf(s)
	if err != nil {
		return err
	}
	if state == NotInstalled {
		fmt.Fprintln(out, "the service is not installed")
		return nil
	}
	if state == Running || state == Failed {
		if err := stop(s); err != nil {
			return fmt.Errorf("stopping the service: %w", err)
		}
	}
	if err := s.Uninstall(); err != nil {
		return err
	}
	if err := closeFirewall(); err != nil {
		return err
	}
	fmt.Fprintln(out, "service uninstalled; its settings, data and account are kept")
	return nil
}

// Control performs an action on the installed service: start, stop or restart. It returns when
// the service has done it.
func Control(action string) error {
	s, err := installed()
	if err != nil {
		return err
	}
	switch action {
	case "stop":
		err = stop(s)
	case "restart":
		err = restart(s)
	default:
		err = s.Start()
	}
	if err != nil {
		return fmt.Errorf("cannot %s the service: %w", action, err)
	}
	if action == "stop" {
		return nil
	}
	return awaitStart()
}

// Outcomes of an attempt to stop a service, other than a failure.
type outcome int

const (
	failure outcome = iota
	busy            // it is starting or stopping, and accepts no requests until then
	ended           // it is not running
)

// stopPatiently stops a service, again while it is busy. A service that ends by itself is stopped, too.
func stopPatiently(attempt func() error, classify func(error) outcome, interval, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for isFirst := true; ; isFirst = false {
		err := attempt()
		if err == nil {
			return nil
		}
		switch classify(err) {
		case failure:
			return err
		case ended:
			if isFirst {
				return err
			}
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the service has been starting or stopping for %v;"+
				" try again when it runs: %w", limit, err)
		}
		time.Sleep(interval)
	}
}

// settingsOf returns the path of the settings file in the arguments of the service, or an empty one.
func settingsOf(arguments []string) string {
	for i, argument := range arguments {
		if argument == "--config" && i+1 < len(arguments) {
			return arguments[i+1]
		}
	}
	return ""
}

// Status returns the state of the service.
func Status() (string, error) {
	s, err := Installation{}.managed()
	if err != nil {
		return "", err
	}
	return stateOf(s)
}

func stateOf(s manage.Service) (string, error) {
	if failed() {
		return Failed, nil
	}
	state, err := s.Status()
	switch {
	case errors.Is(err, manage.ErrNotInstalled):
		return NotInstalled, nil
	case err != nil:
		return "", err
	case state == manage.StatusRunning:
		return Running, nil
	}
	return Stopped, nil
}

// installed returns the installed service. It fails if there is none.
func installed() (manage.Service, error) {
	s, err := Installation{}.managed()
	if err != nil {
		return nil, err
	}
	state, err := stateOf(s)
	if err == nil && state == NotInstalled {
		err = fmt.Errorf("the service is not installed; install it with: %s service install", Name)
	}
	return s, err
}

// managed returns the service in the form of the library that controls it.
func (i Installation) managed() (manage.Service, error) {
	s, err := manage.New(nil, &manage.Config{
		Name:        Name,
		DisplayName: Name,
		Description: "queries and webhooks over the records of a business",
		UserName:    cmp.Or(i.Account, account),
		Executable:  i.Executable,
		Arguments:   []string{"serve", "--config", i.Config},
		Option:      i.options(),
	})
	if err == nil && s.Platform() != platform {
		err = fmt.Errorf("services require %s, which is not running on this machine", platformName)
	}
	return s, err
}
