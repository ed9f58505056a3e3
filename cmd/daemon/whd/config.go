package whd

import (
	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/config"
)

// printing is the command config.
type printing struct{ *base }

func (p printing) commands() []*urfave.Command {
	format := &urfave.StringFlag{
		Name:  "format",
		Value: "text",
		Usage: "output format, `text|toml`; toml is a commented sample file",
	}
	return []*urfave.Command{{
		Name:   "config",
		Usage:  "print all settings with their values, sources and descriptions",
		Action: p.printConfig,
		Flags:  append([]urfave.Flag{format}, p.settingFlags()...),
	}}
}

// printConfig prints the effective settings or a sample file.
func (p printing) printConfig(c *urfave.Context) error {
	conf, err := p.config()
	if err != nil {
		return err
	}
	switch format := c.String("format"); format {
	case "", "text":
		return config.Print(p.Stdout, conf)
	case "toml":
		return config.Sample(p.Stdout, p.Env)
	default:
		return cli.Usagef("--format must be text or toml, not %q", format)
	}
}
