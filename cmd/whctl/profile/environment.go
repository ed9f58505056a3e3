package profile

import "github.com/bizhook/whd/cmd/whctl/output"

// Environment variables that are read in addition to those of settings.
const (
	EnvConfig   = "WHCTL_CONFIG"
	EnvURL      = "WHCTL_URL"
	EnvToken    = "WHCTL_TOKEN"
	EnvUser     = "WHCTL_USER"
	EnvPassword = "WHCTL_PASSWORD"

	envClipboard = "WHCTL_CLIPBOARD"
	EnvASCII     = "WHCTL_ASCII"
)

// Variable is an environment variable.
type Variable struct{ Name, Meaning string }

// Variables returns all environment variables, variables of settings first.
func Variables() []Variable {
	var variables []Variable
	for _, s := range Table {
		if s.env != "" {
			variables = append(variables, Variable{s.env, s.Meaning})
		}
	}
	return append(variables,
		Variable{EnvToken, "API key; takes precedence over user and password"},
		Variable{EnvPassword, "password of the user"},
		Variable{EnvConfig, "path of the configuration file; logins.toml is next to it"},
		Variable{output.EnvColumns, "width of tables in a pipe or a file, where they are not truncated otherwise"},
		Variable{"VISUAL, EDITOR", "editor of whctl config edit"},
		Variable{envClipboard, "clipboard of whctl tui: auto, native, osc52 or file"},
		Variable{EnvASCII, "draw whctl tui with ASCII characters only"},
		Variable{"NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "colours of prompts and tables, with the usual meanings"},
		Variable{"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "proxies, with the usual meanings"},
	)
}
