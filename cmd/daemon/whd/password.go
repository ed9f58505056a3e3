package whd

import (
	"crypto/rand"
	"fmt"
	"os"

	urfave "github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/bizhook/whd/cmd/internal/cli"
)

func passwordFlags() []urfave.Flag {
	return []urfave.Flag{
		&urfave.BoolFlag{
			Name:  "password-stdin",
			Usage: "read the password from the first line of standard input",
		},
		&urfave.BoolFlag{
			Name:  "generate",
			Usage: "generate a password and print it once",
		},
	}
}

// newPassword reads, generates or prompts for a password, according to the flags.
func (p users) newPassword(c *urfave.Context) (string, error) {
	if c.Bool("password-stdin") && c.Bool("generate") {
		return "", cli.Usagef("--password-stdin and --generate cannot be combined")
	}
	if c.Bool("generate") {
		return rand.Text(), nil
	}
	password, err := p.readPassword(c)
	if err != nil {
		return "", err
	}
	if password == "" {
		return "", cli.Usagef("the password is empty")
	}
	return password, nil
}

// readPassword reads a password from standard input, or prompts for it on a terminal.
func (p users) readPassword(c *urfave.Context) (string, error) {
	if c.Bool("password-stdin") {
		return cli.Interruptible(c.Context, func() (string, error) { return cli.FirstLine(p.Stdin) })
	}
	terminal, isFile := p.Stdin.(*os.File)
	if !isFile || !term.IsTerminal(int(terminal.Fd())) {
		return "", cli.Usagef("cannot prompt for the password without a terminal; " +
			"use --password-stdin or --generate")
	}
	prompter := cli.Prompter{Keyboard: terminal, Screen: p.Stderr}
	return prompter.ReadTwice(c.Context, "Password: ")
}

// showPassword prints a generated password of the user whom the command names, after it has been
// stored.
func (p users) showPassword(c *urfave.Context, password string) error {
	if !c.Bool("generate") {
		return nil
	}
	if err := p.printSecret(password); err != nil {
		name := c.Args().First()
		return fmt.Errorf("the user %s has a password that could not be printed; "+
			"set another one with whd user update %s --generate: %w", name, name, err)
	}
	p.notice("this is the password; it is not shown again")
	return nil
}
