package daemon

import (
	"context"

	"github.com/bizhook/whd/daemon/config"
)

func configOptions() []config.Option {
	return []config.Option{{Name: "format", Argument: "text|toml", Help: "text, or toml for a commented sample file (default text)"}}
}

// printConfig prints the settings as they are, or a file to start from.
func printConfig(_ context.Context, c *call) error {
	conf, origins, err := c.config()
	if err != nil {
		return err
	}
	switch format := c.own["format"]; format {
	case "", "text":
		return config.Print(c.Stdout, conf, origins)
	case "toml":
		return config.Sample(c.Stdout, c.Env)
	default:
		return config.Usagef("--format is text or toml, not %q", format)
	}
}
