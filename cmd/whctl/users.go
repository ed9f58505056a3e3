package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func (p *program) userCommands() []*cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "role", Usage: "`ROLE`: reader, publisher, writer or admin"},
		&cli.StringFlag{Name: "display-name", Usage: "the `NAME` that people see"},
		&cli.StringFlag{Name: "new-password-file", Usage: "`FILE` that holds the user's new password; - is standard input"},
	}
	return []*cli.Command{{
		Name: "users", Aliases: []string{"user"}, Usage: "manage who signs in with a password",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the users", Flags: output.Flags(), Action: p.listUsers},
			{Name: "show", ArgsUsage: "USER", Usage: "show a user", Flags: output.Flags(), Action: p.showUser},
			{
				Name: "add", Aliases: []string{"create"}, ArgsUsage: "USER", Usage: "add a user; the password is asked for on a terminal", Flags: newFlags(flags...), Action: p.addUser,
				Description: `whctl users add jsmith --role reader
whctl users add erp --role publisher --new-password-file erp.password`,
			},
			{
				Name: "change", Aliases: []string{"update"}, ArgsUsage: "USER", Usage: "change a user", Action: p.changeUser,
				Flags:       append(newFlags(flags...), &cli.BoolFlag{Name: "new-password", Usage: "ask for a new password on the terminal"}),
				Description: "whctl users change jsmith --role writer",
			},
			{Name: "remove", Aliases: []string{"delete", "rm"}, ArgsUsage: "USER...", Usage: "remove users and end their sessions", Flags: changeFlags(), Action: p.removeUsers},
		},
	}}
}

var userColumns = []output.Column{{Name: "UserName", Type: record.Text}, {Name: "DisplayName", Type: record.Text}, {Name: "Role", Type: record.Text}, {Name: "AddedDateTime", Type: record.DateTime}, {Name: "LastSavedDateTime", Type: record.DateTime}}

func (p *program) listUsers(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	users, err := service.Users(c.Context)
	if err != nil {
		return err
	}
	return output.Documents(p.printer(c), userColumns, nil, users...)
}

func (p *program) showUser(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	user, err := service.User(c.Context, c.Args().First())
	if err != nil {
		return err
	}
	return output.Documents(p.printer(c), userColumns, nil, user)
}

// userRequest reads the flags. Those that are not given change nothing.
func (p *program) userRequest(c *cli.Context, name string, asks bool) (r wire.UserRequest, err error) {
	if c.IsSet("role") {
		r.Role = new(c.String("role"))
	}
	if c.IsSet("display-name") {
		r.DisplayName = new(c.String("display-name"))
	}
	var password string
	switch path := c.String("new-password-file"); {
	case path == "-":
		password, err = secretLine(p.stdin, "standard input")
	case path != "":
		password, err = secretFile(path)
	case !asks:
		return r, nil
	case !p.mayAsk(c):
		return r, cmdline.Usagef("nobody can be asked for the password of %s here: give --new-password-file", name)
	default:
		password, err = p.prompter.AskTwice(c.Context, fmt.Sprintf("New password of %s: ", name))
		if errors.Is(err, cmdline.ErrDiffer) {
			err = cmdline.Usagef("%s", err)
		}
	}
	r.Password = &password
	return r, err
}

func (p *program) addUser(c *cli.Context) error {
	name := c.Args().First()
	if !c.IsSet("role") {
		return cmdline.Usagef("users add needs --role: reader, publisher, writer or admin")
	}
	request, err := p.userRequest(c, name, true)
	if err != nil {
		return err
	}
	request.UserName = name
	service, err := p.connectToChange(c, change{what: fmt.Sprintf("add the user %s as %s", name, c.String("role"))})
	if err != nil {
		return err
	}
	defer service.Close()
	user, err := service.AddUser(c.Context, request)
	if err != nil {
		return err
	}
	p.notice(c, "user %s is added as %s", user.UserName, user.Role)
	return p.tellNew(c, user.UserName, user)
}

func (p *program) changeUser(c *cli.Context) error {
	name := c.Args().First()
	request, err := p.userRequest(c, name, c.Bool("new-password"))
	if err != nil {
		return err
	}
	if request == (wire.UserRequest{}) {
		return cmdline.Usagef("users change needs --role, --display-name, --new-password or --new-password-file")
	}
	service, err := p.connectToChange(c, change{what: "change the user " + name})
	if err != nil {
		return err
	}
	defer service.Close()
	if request.Password != nil && p.who != nil && p.who.password != "" {
		request.CurrentPassword = &p.who.password // who is no admin must know it
	}
	user, err := service.UpdateUser(c.Context, name, request)
	if err != nil {
		return err
	}
	p.notice(c, "user %s is changed", user.UserName)
	return p.tellNew(c, user.UserName, user)
}

func (p *program) removeUsers(c *cli.Context) error {
	names := c.Args().Slice()
	service, err := p.connectToChange(c, change{what: "remove " + several(names, "the user", "users"), sweeping: true})
	if err != nil {
		return err
	}
	defer service.Close()
	return p.forEach(c, names, func(name string) (string, error) {
		return fmt.Sprintf("user %s is removed", name), service.RemoveUser(c.Context, name)
	})
}
