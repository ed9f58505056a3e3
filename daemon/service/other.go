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

var errNone = errors.New("services are made for " + platformName + ", which does not run here")

func (Installation) options() manage.KeyValue                { return nil }
func (Installation) allow() error                            { return errNone }
func (Installation) install(manage.Service, io.Writer) error { return errNone }

func find([]string, func(Order)) (manager, error) { return unsupervised{}, nil }

func failed() bool { return false }

// SendReload has the service read its settings again.
func SendReload() error { return errNone }
