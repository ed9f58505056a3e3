package whd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/service"
)

// services has the commands that run whd as a system service.
type services struct{ *base }

func (p services) commands() []*urfave.Command {
	control := func(action string) urfave.ActionFunc {
		return func(*urfave.Context) error { return service.Control(action) }
	}
	return []*urfave.Command{{
		Name:  "service",
		Usage: "run whd as a systemd or Windows service",
		Subcommands: []*urfave.Command{
			{
				Name:   "install",
				Usage:  "install whd as a systemd or Windows service with its own account",
				Action: p.installService,
				Flags:  p.settingFlags("config"),
			},
			{
				Name:   "uninstall",
				Usage:  "stop and remove the service; keeps settings and data",
				Action: func(*urfave.Context) error { return service.Uninstall(p.Stdout) },
			},
			{
				Name:   "start",
				Usage:  "start the service",
				Action: control("start"),
			},
			{
				Name:   "stop",
				Usage:  "stop the service until the next start or reboot",
				Action: control("stop"),
			},
			{
				Name:   "restart",
				Usage:  "restart the service",
				Action: control("restart"),
			},
			{
				Name:   "reload",
				Usage:  "reload settings and certificates without downtime",
				Action: func(*urfave.Context) error { return service.SendReload() },
			},
			{
				Name:   "status",
				Usage:  "print the state of the service; exit code 1 unless the service is running",
				Action: p.serviceStatus,
			},
		},
	}}
}

// installService installs the running executable as a system service.
func (p services) installService(*urfave.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	program, err = filepath.EvalSymlinks(program)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(config.FileOf(p.flags, p.Env))
	if err != nil {
		return err
	}
	var sample bytes.Buffer
	if err := config.ServiceSample(&sample, p.Env); err != nil {
		return err
	}
	installation := service.Installation{Executable: program, Config: path, Settings: sample.Bytes()}
	return service.Install(installation, p.Stdout)
}

// serviceStatus prints the state and returns an error unless the service is
// running.
func (p services) serviceStatus(*urfave.Context) error {
	state, err := service.Status()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(p.Stdout, state); err != nil {
		return err
	}
	if state != service.Running {
		return fmt.Errorf("the service is %s", state)
	}
	return nil
}
