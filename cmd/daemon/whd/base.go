package whd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
)

// Process is what the operating system gives a program.
type Process struct {
	Args    []string // without the program's name
	Env     []string // as os.Environ gives it
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Signals <-chan os.Signal // those that ask the program to stop

	Reloads func() <-chan os.Signal // begins to catch those that ask to read the settings again; nil for none
}

// exits is the only table of exit codes.
var exits = []cli.Exit{
	{Code: 0, Meaning: "done", Is: func(err error) bool { return err == nil }},
	{Code: 1, Meaning: "failure"},
	{Code: 2, Meaning: "wrong usage or settings", Is: isUsage},
	{Code: 3, Meaning: "the store cannot be reached or used", Is: func(err error) bool { return fault.Is(err, fault.Unavailable) }},
}

// isUsage is true also of a name or password that cannot be.
func isUsage(err error) bool {
	_, ofSettings := errors.AsType[*config.UsageError](err)
	return ofSettings || cli.IsUsage(err) || fault.Is(err, fault.Invalid)
}

// base is what the commands work with.
type base struct {
	Process
	flags config.Layer // the settings that are given as flags
}

// settings reads the settings as they are now.
func (p *base) settings() (config.Config, error) {
	conf, err := config.Read(p.flags, p.Env)
	conf.Start.Version = cli.Version()
	return conf, err
}

// config reads the settings and prints warnings about them.
func (p *base) config() (config.Config, error) {
	conf, err := p.settings()
	if err == nil {
		for _, warning := range conf.Ignored {
			p.notice("warning: %s", warning)
		}
	}
	return conf, err
}

// notice prints something besides what was asked for.
func (p *base) notice(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "whd: "+format+"\n", args...)
}

// withStore opens the store that the settings name, in a way that the command
// may adjust.
func (p *base) withStore(ctx context.Context, adjust func(*storage.Config), work func(*storage.Store) error) error {
	conf, err := p.config()
	if err != nil {
		return err
	}
	return p.openStore(ctx, conf, adjust, work)
}

func (p *base) openStore(ctx context.Context, conf config.Config, adjust func(*storage.Config), work func(*storage.Store) error) (err error) {
	how := daemon.StoreConfig(conf, record.Builtin(), 1)
	how.SaveSettings = func(all []appdb.StoredSetting) error {
		path, err := conf.KeepStored(all)
		if err == nil {
			p.notice("warning: %d settings that were stored in the database are no longer in force; move those that you want into the settings file from %s", len(all), path)
		}
		return err
	}
	if adjust != nil {
		adjust(&how)
	}
	s, err := storage.Open(ctx, how)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return work(s)
}

// Settings that several commands take as flags.
var (
	storing = []string{"config", "store", "store.schema", "data_dir"}
	reading = []string{"config", "store", "store.read_dsn", "store.schema", "data_dir", "erp.schema", "erp.sources"}
)

// settingFlags are the flags of settings, all where none is named, in the order
// of their table.
func (p *base) settingFlags(names ...string) (flags []urfave.Flag) {
	for _, f := range config.Flags(&p.flags, names...) {
		flag := settingFlag{&urfave.GenericFlag{Name: f.Name, Usage: f.Help, Value: settingValue(f.Set)}, f.Argument}
		if f.Argument == "" {
			flag.Value = switchValue{settingValue(f.Set)}
		}
		flags = append(flags, flag)
	}
	return flags
}

// settingFlag is a flag whose value the settings check later, with those of all
// other sources.
type settingFlag struct {
	*urfave.GenericFlag
	argument string // empty for a switch
}

// TakesValue implements cli.DocGenerationFlag.
func (f settingFlag) TakesValue() bool { return f.argument != "" }

// Placeholder is what help calls the value.
func (f settingFlag) Placeholder() string { return f.argument }

// settingValue takes a flag's text.
type settingValue func(text string)

// Set implements flag.Value.
func (v settingValue) Set(text string) error { v(text); return nil }

// String implements flag.Value.
func (v settingValue) String() string { return "" }

// switchValue is that of a flag that may do without a text.
type switchValue struct{ settingValue }

// IsBoolFlag makes the package flag pass "true" where there is no text.
func (switchValue) IsBoolFlag() bool { return true }
