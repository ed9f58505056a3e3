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

// services are the commands on whd as a service of the system.
type services struct{ *base }

func (p services) commands() []*urfave.Command {
	control := func(action string) urfave.ActionFunc {
		return func(*urfave.Context) error { return service.Control(action) }
	}
	return []*urfave.Command{{Name: "service", Usage: "whd as a service of systemd or Windows", Subcommands: []*urfave.Command{
		{Name: "install", Usage: "make this program a service of systemd or Windows, with an account of its own", Action: p.installService, Flags: p.settingFlags("config")},
		{Name: "uninstall", Usage: "stop the service and remove it from the system; settings and data are left", Action: func(*urfave.Context) error { return service.Uninstall(p.Stdout) }},
		{Name: "start", Usage: "start the service", Action: control("start")},
		{Name: "stop", Usage: "stop the service until it is started, or the machine is", Action: control("stop")},
		{Name: "restart", Usage: "stop the service and start it again", Action: control("restart")},
		{Name: "reload", Usage: "have the service read its settings and certificates again, without a pause", Action: func(*urfave.Context) error { return service.SendReload() }},
		{Name: "status", Usage: "print whether the service runs; the exit code is 1 unless it does", Action: p.serviceStatus},
	}}}
}

// installService makes this very program a service of the system.
func (p services) installService(*urfave.Context) error {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
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
	return service.Install(service.Installation{Executable: program, Config: path, Settings: sample.Bytes()}, p.Stdout)
}

// serviceStatus prints the state, and fails unless the service runs.
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
