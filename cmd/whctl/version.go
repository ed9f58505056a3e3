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

// printVersion runs whctl version. The version of a service that cannot be reached, or that requires
// a login, is left out.
func printVersion(c *cli.Context, s *command.Session) error {
	err := cmdline.PrintVersion(c.App.Writer, "whctl")
	if err != nil || c.Bool(cmdline.ProgramOnlyFlag) {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, serviceTimeout)
	defer cancel()
	c.Context = ctx
	s.Stderr = io.Discard // of notices about the connection
	s.Prompter.Keyboard = nil
	s.Vault.Timeout = serviceTimeout
	service, err := s.ReadClient(c)
	if err != nil {
		return nil
	}
	defer service.Close()
	info, err := service.Info(ctx)
	if err != nil {
		return nil
	}
	_, err = fmt.Fprintf(c.App.Writer, "service %s\n", display.Sanitize(info.Version))
	return err
}
