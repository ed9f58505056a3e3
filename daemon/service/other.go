//go:build !linux && !windows

package service

import (
	"errors"
	"io"

	manage "github.com/kardianos/service"
)

const (
	platform     = "none"
	platformName = "Windows and systemd"
	account      = ""
)

var errNone = errors.New("services require " + platformName + ", which is not running on this machine")

func (Installation) options() manage.KeyValue                { return nil }
func (Installation) allow() error                            { return errNone }
func (Installation) install(manage.Service, io.Writer) error { return errNone }

func find([]string, func(Order)) (manager, error) { return unsupervised{}, nil }

func failed() bool { return false }

func stop(manage.Service) error { return errNone }

func restart(manage.Service) error { return errNone }

// Settings returns an empty path: there is no service.
func Settings() (string, error) { return "", nil }

// AccountIDs returns nothing: there is no service.
func AccountIDs() []string { return nil }

func awaitStart() error { return errNone }

func closeFirewall() error { return errNone }

// ReportToInstaller does nothing: there is no installer that discards the output of commands.
func ReportToInstaller(error) {}

// SendReload requests the service to reload its settings.
func SendReload() error { return errNone }
