package main

import (
	_ "embed"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// The scripts only pass the line on: what there is to say is in the binary, so
// that they never grow old.
var (
	//go:embed completion/whctl.bash
	bashScript string
	//go:embed completion/whctl.zsh
	zshScript string
	//go:embed completion/whctl.fish
	fishScript string
	//go:embed completion/whctl.ps1
	powerShellScript string
)

// shells are those that have a script.
var shells = []struct {
	name   string
	script *string
}{
	{"bash", &bashScript},
	{"zsh", &zshScript},
	{"fish", &fishScript},
	{"powershell", &powerShellScript},
}

func shellNames() []string {
	var names []string
	for _, s := range shells {
		names = append(names, s.name)
	}
	return names
}

func (p *program) completionCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "completion", ArgsUsage: "SHELL", Usage: "print the script by which bash, zsh, fish or powershell completes our commands", Action: p.completionScript,
		Description: `eval "$(whctl completion bash)"
whctl completion zsh >"${fpath[1]}/_whctl"
whctl completion fish >~/.config/fish/completions/whctl.fish
whctl completion powershell | Out-String | Invoke-Expression`,
	}}
}

func (p *program) completionScript(c *cli.Context) error {
	for _, s := range shells {
		if s.name == c.Args().First() {
			_, err := io.WriteString(p.stdout, *s.script)
			return err
		}
	}
	return cmdline.Usagef("no completion for %q%s; shells: bash, zsh, fish, powershell", c.Args().First(), cmdline.DidYouMean(record.Suggest(c.Args().First(), shellNames())))
}
