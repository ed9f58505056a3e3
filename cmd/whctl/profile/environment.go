package profile

import "github.com/bizhook/whd/cmd/whctl/output"

// The variables that are read beside those of the settings.
const (
	EnvConfig   = "WHCTL_CONFIG"
	EnvURL      = "WHCTL_URL"
	EnvToken    = "WHCTL_TOKEN"
	EnvUser     = "WHCTL_USER"
	EnvPassword = "WHCTL_PASSWORD"

	envClipboard = "WHCTL_CLIPBOARD"
	EnvASCII     = "WHCTL_ASCII"
)

// Variable is one that is read.
type Variable struct{ Name, Meaning string }

// Variables lists them all, those of settings first.
func Variables() []Variable {
	var all []Variable
	for _, s := range Table {
		if s.env != "" {
			all = append(all, Variable{s.env, s.Meaning})
		}
	}
	return append(all,
		Variable{EnvToken, "API key; wins over user and password"},
		Variable{EnvPassword, "password of the user"},
		Variable{EnvConfig, "configuration file; logins.toml is beside it"},
		Variable{output.EnvColumns, "width of tables, where no terminal tells it"},
		Variable{"VISUAL, EDITOR", "editor of whctl config edit"},
		Variable{envClipboard, "way to the clipboard in whctl tui: auto, native, osc52 or file"},
		Variable{EnvASCII, "lines and signs of whctl tui in ASCII"},
		Variable{"NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "colours in questions, as usual"},
		Variable{"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "proxies, as usual"},
	)
}
