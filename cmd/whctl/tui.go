package main

import (
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui"
)

func (p *program) tuiCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "tui", Usage: "look at everything on one screen, live", Action: p.tui,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "ascii", Usage: "lines and signs of ASCII only (WHCTL_ASCII)"},
		},
		Description: `whctl tui
whctl tui --profile prod --read-only`,
	}}
}

// tui shows the screens. A profile that is protected or read-only begins without
// the right to change anything; --read-only keeps that for good.
func (p *program) tui(c *cli.Context) error {
	if !p.terminal.is {
		return usagef("tui needs a terminal; whctl query and the others print anywhere")
	}
	s, err := p.settings(c)
	if err != nil {
		return err
	}
	readOnly := s.yes("read_only") || s.yes("protected")
	service, err := p.clientFor(c, s, readOnly)
	if err != nil {
		return err
	}
	defer service.Close()
	o := tui.Options{
		URL: service.URL(), Profile: s.profile, User: s.text("user"), Registry: p.registry, Zone: s.zone(), Now: p.now,
		ReadOnly: readOnly, Protected: readOnly && s.profile != "", InsecureTLS: s.yes("insecure_tls"),
		ASCII: c.Bool("ascii") || p.env("WHCTL_ASCII") != "", Mono: !p.inColour(c), Downloads: downloads(),
		Input: p.stdin, Output: p.stdout,
	}
	if !c.IsSet("read-only") {
		o.Unlock = func() (*client.Client, error) { return p.clientFor(c, s, false) }
	}
	return tui.Run(c.Context, service, o)
}

// downloads is where a browser would put files, else the present directory.
func downloads() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	path := filepath.Join(home, "Downloads")
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return ""
	}
	return path
}
