package main

import "github.com/bizhook/whd/cmd/whctl/output"

// The variables that are read beside those of the settings.
const (
	envConfig   = "WHCTL_CONFIG"
	envURL      = "WHCTL_URL"
	envToken    = "WHCTL_TOKEN"
	envUser     = "WHCTL_USER"
	envPassword = "WHCTL_PASSWORD"

	envClipboard = "WHCTL_CLIPBOARD"
	envASCII     = "WHCTL_ASCII"
)

// variable is one that is read.
type variable struct{ name, meaning string }

// variables lists them all, those of settings first.
func variables() []variable {
	var all []variable
	for _, s := range settingTable {
		if s.env != "" {
			all = append(all, variable{s.env, s.meaning})
		}
	}
	return append(all,
		variable{envToken, "API key; wins over user and password"},
		variable{envPassword, "password of the user"},
		variable{envConfig, "configuration file; logins.toml is beside it"},
		variable{output.EnvColumns, "width of tables, where no terminal tells it"},
		variable{"VISUAL, EDITOR", "editor of whctl config edit"},
		variable{envClipboard, "way to the clipboard in whctl tui: auto, native, osc52 or file"},
		variable{envASCII, "lines and signs of whctl tui in ASCII"},
		variable{"NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "colours in questions, as usual"},
		variable{"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "proxies, as usual"},
	)
}
