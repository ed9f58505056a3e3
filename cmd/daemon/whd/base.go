package whd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/storage"
)

// Process holds the arguments, environment and streams of the program.
type Process struct {
	Args    []string // without the program's name
	Env     []string // in the form of os.Environ
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Signals chan os.Signal // interrupt and termination signals

	Reloads func() <-chan os.Signal // subscribes to reload signals; nil if there are none
}

// NewProcess returns the process that the operating system has started. It handles signals
// from now on.
func NewProcess(args []string) Process {
	return Process{
		Args:    args,
		Env:     os.Environ(),
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Signals: cli.StopSignals(),
		Reloads: cli.Hangups,
	}
}

// base contains the state and functions that all commands share.
type base struct {
	Process
	flags config.Layer // settings from flags
}

// settings reads the current settings.
func (p *base) settings() (config.Config, error) {
	conf, err := config.Read(p.flags, p.Env)
	conf.Start.Version = cli.Version()
	return conf, err
}

// config reads the settings and prints warnings about them.
func (p *base) config() (config.Config, error) {
	conf, err := p.settings()
	if err != nil {
		return conf, err
	}
	for _, warning := range conf.Start.Warnings {
		p.notice("warning: %s", warning)
	}
	return conf, nil
}

// notice prints a message to standard error.
func (p *base) notice(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "whd: "+format+"\n", args...)
}

// withStore opens the configured store and calls work with it, as openStore does.
func (p *base) withStore(ctx context.Context, adjust func(*storage.Config), work func(*storage.Store) error) error {
	conf, err := p.config()
	if err != nil {
		return err
	}
	return p.openStore(ctx, conf, adjust, work)
}

// openStore opens a store and calls work with it. adjust, if not nil, changes the options
// first.
func (p *base) openStore(
	ctx context.Context, conf config.Config, adjust func(*storage.Config),
	work func(*storage.Store) error,
) (err error) {
	options := daemon.StoreConfig(conf, 1)
	options.SaveSettings = func(stored []appdb.StoredSetting) error {
		path, err := conf.SaveStored(stored)
		if err != nil {
			return err
		}
		p.notice("warning: %d settings stored in the database are no longer used; "+
			"copy those you need from %s to the settings file", len(stored), path)
		return nil
	}
	if adjust != nil {
		adjust(&options)
	}
	s, err := storage.Open(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return work(s)
}

// Names of settings that several commands accept as flags.
var (
	storeSettings  = []string{"config", "store", "store.schema", "data_dir"}
	recordSettings = append([]string{
		"erp", "erp.read_dsn", "erp.schema", "erp.sources", "erp.builtin", "erp.kinds",
	}, storeSettings...)
)

// settingFlags returns the flags of the named settings, or of all settings if no
// name is given, in the order of the settings table.
func (p *base) settingFlags(names ...string) (flags []urfave.Flag) {
	for _, f := range config.Flags(&p.flags, names...) {
		var value urfave.Generic = settingValue(f.Set)
		if f.Argument == "" {
			value = switchValue{settingValue(f.Set)}
		}
		flags = append(flags, settingFlag{
			GenericFlag: &urfave.GenericFlag{Name: f.Name, Usage: f.Help, Value: value},
			argument:    f.Argument,
		})
	}
	return flags
}

// settingFlag is a flag of a setting. Its value is validated later, together with those
// of all other sources.
type settingFlag struct {
	*urfave.GenericFlag
	argument string // empty for a switch
}

func (f settingFlag) TakesValue() bool { return f.argument != "" }

// Placeholder returns the name of the value in help.
func (f settingFlag) Placeholder() string { return f.argument }

// settingValue stores the text of a flag.
type settingValue func(text string)

func (v settingValue) Set(text string) error {
	v(text)
	return nil
}

func (v settingValue) String() string { return "" }

// switchValue is the value of a flag without a text.
type switchValue struct{ settingValue }

// IsBoolFlag makes package flag pass "true" if there is no text.
func (switchValue) IsBoolFlag() bool { return true }
