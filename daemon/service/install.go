package service

import (
	"errors"
	"fmt"
	"io"

	manage "github.com/kardianos/service"
)

// Installation is what becomes a service.
type Installation struct {
	Executable string // an absolute path
	Config     string // the file of settings, likewise
	Settings   []byte // what that file holds if it does not exist yet
}

// States of an installed service, as Status gives them.
const (
	Running      = "running"
	Stopped      = "stopped"
	Failed       = "failed"
	NotInstalled = "not installed"
)

// Install makes the service known to the system: it begins when the machine does,
// as an account of its own, and is started anew when it fails. It does not begin
// yet. What is done is told to out.
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

// Uninstall ends the service and makes the system forget it. Its files and its
// account stay.
func Uninstall(out io.Writer) error {
	s, state, err := installed()
	if err != nil {
		return err
	}
	if state == Running || state == Failed {
		if err := s.Stop(); err != nil {
			return fmt.Errorf("stopping the service: %w", err)
		}
	}
	if err := s.Uninstall(); err != nil {
		return err
	}
	fmt.Fprintln(out, "the service is no longer installed; its settings, its data and its account are left")
	return nil
}

// Control begins, ends or restarts the installed service, by the manager's word
// for that: start, stop or restart.
func Control(action string) error {
	s, _, err := installed()
	if err != nil {
		return err
	}
	return manage.Control(s, action)
}

// Status is the state of the service.
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

// installed is the service, if there is one.
func installed() (manage.Service, string, error) {
	s, err := Installation{}.managed()
	if err != nil {
		return nil, "", err
	}
	state, err := stateOf(s)
	if err == nil && state == NotInstalled {
		err = fmt.Errorf("there is no service; install it with: %s service install", Name)
	}
	return s, state, err
}

// managed is the service as the library that steers it has it.
func (i Installation) managed() (manage.Service, error) {
	s, err := manage.New(nil, &manage.Config{
		Name:        Name,
		DisplayName: Name,
		Description: "queries and webhooks over the records of a business",
		UserName:    account,
		Executable:  i.Executable,
		Arguments:   []string{"serve", "--config", i.Config},
		Option:      i.options(),
	})
	if err == nil && s.Platform() != platform {
		err = fmt.Errorf("services are made for %s, which does not run here", platformName)
	}
	return s, err
}
