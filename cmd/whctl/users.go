package main

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

var userTable = output.Table{
	Columns: []output.Column{
		{Name: "UserName", Type: record.Text},
		{Name: "DisplayName", Type: record.Text},
		{Name: "Role", Type: record.Text},
		{Name: "AddedDateTime", Type: record.DateTime},
		{Name: "LastSavedDateTime", Type: record.DateTime},
	},
	View: []output.ViewColumn{
		{Title: "User", Fields: "UserName", As: output.Words},
		{Title: "Role", Fields: "Role", As: output.Words},
		{Title: "Name", Fields: "DisplayName", As: output.Words, Rank: 3},
		{Title: "Created", Fields: "AddedDateTime", As: output.Age, Rank: 1},
		{Title: "Updated", Fields: "LastSavedDateTime", As: output.Age, Rank: 2},
	},
}

func userCommands() []*cli.Command {
	return []*cli.Command{{
		Name:    "users",
		Aliases: []string{"user"},
		Usage:   "manage users and their passwords",
		Subcommands: []*cli.Command{
			{
				Name:   "list",
				Usage:  "list users",
				Flags:  output.Flags(),
				Action: command.ShowsAll(userTable, (*client.Client).Users),
			},
			{
				Name:      "show",
				ArgsUsage: "USER",
				Usage:     "show a user",
				Flags:     output.Flags(),
				Action: command.ShowsOne(userTable,
					func(c *cli.Context, service *client.Client) (*wire.User, error) {
						return service.User(c.Context, c.Args().First())
					}),
			},
			{
				Name:      "create",
				Aliases:   []string{"add"},
				ArgsUsage: "USER",
				Usage:     "create a user; prompts for the password on a terminal",
				Flags:     userChangeFlags("print the created user as JSON instead of the user name"),
				Action:    command.Changes(createUser),
				Description: `whctl users create jsmith --role reader
whctl users create erp --role publisher --generate
whctl users create erp --role publisher --new-password-file erp.password`,
			},
			{
				Name:      "update",
				Aliases:   []string{"change"},
				ArgsUsage: "USER",
				Usage:     "change the role, display name or password of a user",
				Action:    command.Changes(updateUser),
				Flags: append(
					userChangeFlags("print the updated user as JSON instead of the user name"),
					&cli.BoolFlag{Name: "new-password", Usage: "prompt for a new password on the terminal"}),
				Description: "whctl users update jsmith --role writer",
			},
			{
				Name:      "delete",
				Aliases:   []string{"remove", "rm"},
				ArgsUsage: "USER...",
				Usage:     "delete users and end their sessions",
				Flags:     command.ChangeFlags(),
				Action: command.Each{
					Verb:     "delete",
					One:      "the user",
					Many:     "users",
					Sweeping: true,
					Do: func(c *cli.Context, service *client.Client, name string) (string, error) {
						err := service.RemoveUser(c.Context, name)
						return fmt.Sprintf("user %s deleted", name), err
					},
				}.Action(),
			},
		},
	}}
}

// userChangeFlags returns the flags of the commands that create or update a user, with the usage of
// --json.
func userChangeFlags(jsonUsage string) []cli.Flag {
	flags := command.ResultFlags(jsonUsage,
		&cli.StringFlag{
			Name:  "role",
			Usage: "`ROLE`  role of the user: reader, publisher, writer or admin",
		},
		&cli.StringFlag{Name: "display-name", Usage: "display `NAME`"},
		&cli.StringFlag{
			Name:  "new-password-file",
			Usage: "read the new password from `FILE`; - is standard input",
		},
	)
	return append(flags, &cli.BoolFlag{
		Name:  "generate",
		Usage: "generate the password and print it once, instead of the user name",
	})
}

// userRequest reads the flags; unset flags leave their members nil. With prompt, it
// prompts for a password if no flag has one.
func userRequest(
	c *cli.Context, s *command.Session, name string, prompt bool,
) (wire.UserRequest, error) {
	var request wire.UserRequest
	if c.IsSet("role") {
		if err := cmdline.OneOf(c.String("role"), command.Roles); err != nil {
			return request, cmdline.Usagef("--role %s", err)
		}
		request.Role = new(c.String("role"))
	}
	if c.IsSet("display-name") {
		request.DisplayName = new(c.String("display-name"))
	}
	var err error
	request.Password, err = readNewPassword(c, s, name, prompt)
	return request, err
}

// readNewPassword reads or generates a password; see userRequest.
func readNewPassword(
	c *cli.Context, s *command.Session, name string, prompt bool,
) (*string, error) {
	path := c.String("new-password-file")
	var password string
	var err error
	switch {
	case c.Bool("generate"):
		if err := checkGenerate(c); err != nil {
			return nil, err
		}
		password = rand.Text()
	case path == "-":
		password, err = profile.SecretLine(s.Stdin, "standard input")
	case path != "":
		password, err = profile.SecretFile(path)
	case prompt:
		password, err = promptForNewPassword(c, s, name)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &password, nil
}

// checkGenerate rejects flags that contradict --generate.
func checkGenerate(c *cli.Context) error {
	if c.String("new-password-file") != "" {
		return cmdline.Usagef("--generate and --new-password-file cannot be combined")
	}
	if c.Bool("json") {
		return cmdline.Usagef("--generate and --json cannot be combined: the password is printed")
	}
	return nil
}

func promptForNewPassword(c *cli.Context, s *command.Session, name string) (string, error) {
	if !s.MayPrompt(c) {
		return "", cmdline.Usagef("cannot prompt for the password of %s without a terminal; "+
			"use --generate or --new-password-file FILE (- is standard input)", name)
	}
	password, err := s.Prompter.ReadTwice(c.Context, fmt.Sprintf("New password of %s: ", name))
	if errors.Is(err, cmdline.ErrDiffer) {
		return "", cmdline.Usagef("%s", err)
	}
	return password, err
}

// createUser runs whctl users create.
func createUser(c *cli.Context, s *command.Session) (command.Change, error) {
	name := c.Args().First()
	if !c.IsSet("role") {
		return command.Change{}, cmdline.Usagef(
			"users create needs --role: reader, publisher, writer or admin")
	}
	request, err := userRequest(c, s, name, true)
	if err != nil {
		return command.Change{}, err
	}
	request.UserName = name
	summary := fmt.Sprintf("create the user %s with the role %s", name, c.String("role"))
	create := func(out *output.Printer, service *client.Client) error {
		user, err := service.AddUser(c.Context, request)
		if err != nil {
			return err
		}
		out.Notice("user %s created with the role %s", user.UserName, user.Role)
		return showUser(c, out, request, user)
	}
	return command.Change{Text: summary, Do: create}, nil
}

// showUser prints the name of a user that was created or updated, or a generated password.
func showUser(
	c *cli.Context, out *output.Printer, request wire.UserRequest, user *wire.User,
) error {
	if c.Bool("generate") {
		out.Notice("this is the password; it is not shown again")
		return out.Created(*request.Password, user)
	}
	return out.Created(user.UserName, user)
}

// updateUser runs whctl users update.
func updateUser(c *cli.Context, s *command.Session) (command.Change, error) {
	name := c.Args().First()
	request, err := userRequest(c, s, name, c.Bool("new-password"))
	if err != nil {
		return command.Change{}, err
	}
	if request == (wire.UserRequest{}) {
		for _, login := range []string{"password-stdin", "password-file"} {
			if c.IsSet(login) {
				return command.Change{}, cmdline.Usagef("--%s is the password to log in with; a new one is read by "+
					"whctl users update %s --new-password-file FILE, and with - from standard input", login, name)
			}
		}
		return command.Change{}, cmdline.Usagef(
			"users update needs --role, --display-name, --new-password, --new-password-file or --generate")
	}
	update := func(out *output.Printer, service *client.Client) error {
		password := s.Password()
		if request.Password != nil && password != "" {
			request.CurrentPassword = &password // required unless the caller is an admin
		}
		user, err := service.UpdateUser(c.Context, name, request)
		if err != nil {
			return err
		}
		out.Notice("user %s updated", user.UserName)
		return showUser(c, out, request, user)
	}
	return command.Change{Text: "update the user " + name, Do: update}, nil
}
