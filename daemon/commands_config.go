package daemon

import "context"

func configOptions() []option {
	return []option{{name: "format", argument: "text|toml", help: "text, or toml for a commented sample file (default text)"}}
}

// printConfig prints the settings as they are, or a file to start from.
func printConfig(_ context.Context, c *call) error {
	config, origins, err := c.config()
	if err != nil {
		return err
	}
	switch format := c.own["format"]; format {
	case "", "text":
		return printSettings(c.Stdout, config, origins)
	case "toml":
		return c.printDefaults()
	default:
		return usage("--format is text or toml, not %q", format)
	}
}

// printDefaults leaves out all sources but the platform, so that the sample
// neither repeats a secret nor takes a value of today for a default.
func (c *call) printDefaults() error {
	var defaults Config
	on := thisPlatform()
	layer := defaultLayer(settings(), on, on.environment(c.Env))
	var wrong UsageError
	layer.apply(&defaults, &Origins{of: make(map[string]Origin)}, nil, &wrong)
	if len(wrong.Problems) > 0 {
		return &wrong
	}
	return printSample(c.Stdout, defaults)
}
