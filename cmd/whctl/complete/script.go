package complete

import (
	_ "embed"
	"io"
	"strings"

	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// The scripts only pass the line to the program, so they do not depend on its
// version.
var (
	//go:embed whctl.bash
	bashScript string
	//go:embed whctl.zsh
	zshScript string
	//go:embed whctl.fish
	fishScript string
	//go:embed whctl.ps1
	powerShellScript string
)

// Shells has the shells with a completion script.
var Shells = []string{"bash", "zsh", "fish", "powershell"}

// PrintScript writes the completion script of a shell.
func PrintScript(to io.Writer, shell string) error {
	for i, script := range []string{bashScript, zshScript, fishScript, powerShellScript} {
		if Shells[i] == shell {
			_, err := io.WriteString(to, script)
			return err
		}
	}
	return cmdline.Usagef("no completion script for %q%s", shell, record.DidYouMeanOr(record.Suggest(shell, Shells), "shells: "+strings.Join(Shells, ", ")))
}
