package daemon

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/service"
)

// serviceInstall makes this very program a service of the system.
func serviceInstall(_ context.Context, c *call) error {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return err
	}
	path, err := filepath.Abs(config.FileOf(c.flags, c.Env))
	if err != nil {
		return err
	}
	var sample bytes.Buffer
	if err := config.ServiceSample(&sample, c.Env); err != nil {
		return err
	}
	return service.Install(service.Installation{Executable: program, Config: path, Settings: sample.Bytes()}, c.Stdout)
}

func serviceUninstall(_ context.Context, c *call) error { return service.Uninstall(c.Stdout) }

// serviceControl hands a command's word on to the manager of services.
func serviceControl(action string) func(context.Context, *call) error {
	return func(context.Context, *call) error { return service.Control(action) }
}

func serviceReload(context.Context, *call) error { return service.SendReload() }

// serviceStatus prints the state, and fails unless the service runs.
func serviceStatus(_ context.Context, c *call) error {
	state, err := service.Status()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(c.Stdout, state); err != nil {
		return err
	}
	if state != service.Running {
		return fmt.Errorf("the service is %s", state)
	}
	return nil
}
