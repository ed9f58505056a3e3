package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
)

// serviceTimeout limits the request of whctl version.
const serviceTimeout = time.Second

// printVersion runs whctl version. A mistake in the settings is a notice: the version of the program
// does not depend on them.
func printVersion(c *cli.Context, s *command.Session) error {
	err := cmdline.PrintVersion(c.App.Writer, c.App.Name)
	if err != nil || c.Bool(cmdline.ProgramOnlyFlag) {
		return err
	}
	version, err := serviceVersion(c, *s)
	if err != nil {
		s.Notice(c, "the version of the service is not known: %s", err)
	}
	if version == "" {
		return nil
	}
	_, err = fmt.Fprintf(c.App.Writer, "service %s\n", display.Sanitize(version))
	return err
}

// serviceVersion returns the version of the service, empty if it cannot be reached in time, or
// requires a login. It changes only its copy of the session.
func serviceVersion(c *cli.Context, s command.Session) (string, error) {
	ctx, cancel := context.WithTimeout(c.Context, serviceTimeout)
	defer cancel()
	limited := *c
	limited.Context = ctx
	s.Stderr = io.Discard // of notices about the connection
	s.Prompter.Keyboard = nil
	s.Vault.Timeout = serviceTimeout
	if _, err := s.Options(&limited); err != nil {
		return "", err
	}
	service, err := s.ReadClient(&limited)
	if err != nil {
		return "", nil
	}
	defer service.Close()
	info, err := service.Info(ctx)
	if err != nil {
		return "", nil
	}
	return info.Version, nil
}
