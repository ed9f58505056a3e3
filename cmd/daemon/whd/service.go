package whd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/daemon/access"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/service"
	"github.com/bizhook/whd/daemon/storage"
)

// services has the commands that run whd as a system service.
type services struct{ *base }

func (p services) commands() []*urfave.Command {
	control := func(action string) urfave.ActionFunc {
		return reporting(func(*urfave.Context) error { return service.Control(action) })
	}
	account := &urfave.StringFlag{
		Name:  "account",
		Usage: "on Windows: account of the service, a gMSA such as DOMAIN\\whd$ or a domain account (default NT SERVICE\\whd)",
	}
	firewall := &urfave.BoolFlag{
		Name:  "firewall",
		Usage: "on Windows: add a firewall rule that lets other machines connect",
	}
	installation := append(p.settingFlags("config", "listen", "erp"), account, firewall)
	undo := &urfave.BoolFlag{Name: "undo", Usage: "restore that backup, because the upgrade failed"}
	return []*urfave.Command{{
		Name:  "service",
		Usage: "run whd as a systemd or Windows service",
		Subcommands: []*urfave.Command{
			{
				Name:   "install",
				Usage:  "install whd as a systemd or Windows service with its own account",
				Action: reporting(p.installService),
				Flags:  installation,
			},
			{
				Name:   "undo-install",
				Usage:  "remove the service and the settings of an installation that failed; for installers",
				Action: reporting(p.undoInstall),
				Flags:  installation,
				Hidden: true,
			},
			{
				Name:   "uninstall",
				Usage:  "stop and remove the service; keeps settings and data",
				Action: reporting(func(*urfave.Context) error { return service.Uninstall(p.Stdout) }),
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
				Name:   "upgrade",
				Usage:  "back up the embedded store before a new version starts; for installers",
				Action: reporting(p.upgradeService),
				Flags:  append(p.settingFlags(storeSettings...), undo),
				Hidden: true,
			},
			{
				Name:   "status",
				Usage:  "print the state of the service; exit code 1 unless the service is running",
				Action: p.serviceStatus,
			},
		},
	}}
}

// reporting reports the error of an action that installers use.
func reporting(action urfave.ActionFunc) urfave.ActionFunc {
	return func(c *urfave.Context) error {
		err := action(c)
		service.ReportToInstaller(err)
		return err
	}
}

// installService installs the running executable as a system service.
func (p services) installService(c *urfave.Context) error {
	installation, err := p.installation(c)
	if err != nil {
		return err
	}
	return service.Install(installation, p.Stdout)
}

// undoInstall undoes installService, with the same flags.
func (p services) undoInstall(c *urfave.Context) error {
	installation, err := p.installation(c)
	if err != nil {
		return err
	}
	return installation.UndoInstall(p.Stdout)
}

// installation describes the service of the running executable, by the flags.
func (p services) installation(c *urfave.Context) (service.Installation, error) {
	program, err := os.Executable()
	if err != nil {
		return service.Installation{}, err
	}
	program, err = filepath.EvalSymlinks(program)
	if err != nil {
		return service.Installation{}, err
	}
	path, err := filepath.Abs(config.FileOf(p.flags, p.Env))
	if err != nil {
		return service.Installation{}, err
	}
	var sample bytes.Buffer
	if err := config.ServiceSample(&sample, p.flags, p.Env); err != nil {
		return service.Installation{}, err
	}
	return service.Installation{
		Executable: program,
		Config:     path,
		Settings:   sample.Bytes(),
		DataDir:    config.ServiceDataDir(p.Env),
		Account:    c.String("account"),
		Firewall:   c.Bool("firewall"),
	}, nil
}

// upgradeService backs up the embedded store of a stopped service, which a new version will
// migrate at its start, or restores it from that backup. A store on a server is neither backed
// up nor migrated here, since other daemons use it.
func (p services) upgradeService(c *urfave.Context) error {
	if err := p.useSettingsOfService(c); err != nil {
		return err
	}
	conf, err := p.trustedConfig()
	if err != nil || conf.Store.OnServer() {
		return err
	}
	files, err := storage.Files()
	if err != nil {
		return err
	}
	// Programs that an installer runs may have no standard output.
	silent := *p.base
	silent.Stdout = io.Discard
	store := backups{&silent}
	file := filepath.Join(conf.DataDir, "before-upgrade.whd")
	if c.Bool("undo") {
		if isMissing(file) {
			return nil // there was nothing to back up
		}
		return store.restoreFrom(c.Context, conf, files, file, true)
	}

	// A backup of an earlier upgrade must not be restored if this one fails.
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		if f.Required && isMissing(filepath.Join(conf.DataDir, f.Name)) {
			return nil // the service has not been started yet
		}
	}
	return store.backUpTo(c.Context, conf, files, file)
}

// useSettingsOfService makes the command read the settings file of the installed service, unless a
// flag names another.
func (p services) useSettingsOfService(c *urfave.Context) error {
	if c.IsSet("config") {
		return nil
	}
	path, err := service.Settings()
	if err != nil || path == "" {
		return err
	}
	for _, flag := range config.Flags(&p.flags, "config") {
		flag.Set(path)
	}
	return nil
}

// trustedConfig reads the settings. Installers run the command with all rights, so it fails if
// others than administrators and the service can change the settings or the data.
func (p services) trustedConfig() (config.Config, error) {
	if !access.Privileged() {
		return p.config()
	}
	file := config.FileOf(p.flags, p.Env)
	if err := service.CheckSettings(file); err != nil {
		return config.Config{}, err
	}
	conf, err := p.config()
	if err != nil {
		return conf, err
	}
	if conf.File != "" { // named by a variable of the environment, or created since
		if err := service.CheckSettings(conf.File); err != nil {
			return conf, err
		}
	}
	if conf.Store.OnServer() {
		return conf, nil
	}
	return conf, service.CheckData(conf.DataDir)
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
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
