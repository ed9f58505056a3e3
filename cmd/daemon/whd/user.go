package whd

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/account"
)

// users has the commands on users.
type users struct{ accounts }

func (p users) commands() []*urfave.Command {
	settings := p.settingFlags(storeSettings...)
	newPassword := &urfave.BoolFlag{
		Name:  "new-password",
		Usage: "prompt for a new password on the terminal; ends the user's sessions",
	}
	return []*urfave.Command{{
		Name:    "user",
		Aliases: []string{"users"},
		Usage:   "manage users, which sign in with a password",
		Subcommands: []*urfave.Command{
			{Name: "list", Usage: "list users", Action: p.listUsers, Flags: settings},
			{
				Name:      "create",
				Aliases:   []string{"add"},
				ArgsUsage: "NAME",
				Usage:     "create a user; prompts for the password on a terminal",
				Action:    p.createUser,
				Flags:     slices.Concat([]urfave.Flag{roleFlag()}, passwordFlags(), settings),
				Description: `whd user create jsmith --role reader
whd user create erp --role publisher --generate`,
			},
			{
				Name:      "update",
				Aliases:   []string{"change"},
				ArgsUsage: "NAME",
				Usage:     "change the role or the password of a user",
				Action:    p.updateUser,
				Flags:     slices.Concat([]urfave.Flag{roleFlag(), newPassword}, passwordFlags(), settings),
				Description: `whd user update jsmith --role writer
whd user update jsmith --new-password`,
			},
			{
				Name:      "delete",
				Aliases:   []string{"remove", "rm"},
				ArgsUsage: "NAME",
				Usage:     "delete a user and end their sessions",
				Action:    p.deleteUser,
				Flags:     settings,
			},

			// Former commands, kept as aliases of update.
			{
				Name:      "role",
				Hidden:    true,
				ArgsUsage: "NAME ROLE",
				Usage:     "change the role of a user; same as user update --role",
				Action:    p.updateRole,
				Flags:     settings,
			},
			{
				Name:      "password",
				Hidden:    true,
				ArgsUsage: "NAME",
				Usage:     "change the password of a user; same as user update --new-password",
				Action:    p.updatePassword,
				Flags:     append(passwordFlags(), settings...),
			},
		},
	}}
}

func (p users) createUser(c *urfave.Context) error {
	role, err := roleOf(c)
	if err != nil {
		return err
	}
	password, err := p.newPassword(c)
	if err != nil {
		return err
	}
	return p.withAccounts(c.Context, func(accounts *account.Service) error {
		user := account.NewUser{Name: c.Args().First(), Role: role, Password: password}
		if _, err := editor(accounts).AddUser(c.Context, user); err != nil {
			return err
		}
		if err := p.showPassword(c, password); err != nil {
			return err
		}
		return p.warnWithoutAdmin(c.Context, accounts)
	})
}

// warnWithoutAdmin prints a warning if no user is an admin: serve only creates its
// first user in a store without users.
func (p users) warnWithoutAdmin(ctx context.Context, accounts *account.Service) error {
	users, err := accounts.Users(ctx)
	if err != nil {
		return err
	}
	isAdmin := func(u account.User) bool { return u.Role == account.Admin }
	if !slices.ContainsFunc(users, isAdmin) {
		p.notice("warning: no user is an admin, and serve only creates one in a store without users; " +
			"use whd user update NAME --role admin")
	}
	return nil
}

func (p users) listUsers(c *urfave.Context) error {
	return p.withAccounts(c.Context, func(service *account.Service) error {
		list, err := service.Users(c.Context)
		if err != nil {
			return err
		}
		columns := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(columns, "NAME\tROLE\tADDED")
		for _, u := range list {
			fmt.Fprintf(columns, "%s\t%s\t%s\n", u.Name, u.Role, minute(u.Added))
		}
		return columns.Flush() // also returns the errors of the lines
	})
}

func (p users) deleteUser(c *urfave.Context) error {
	return p.edit(c.Context, func(e *account.Editor) error {
		return e.RemoveUser(c.Context, c.Args().First())
	})
}

// updateUser changes the role and the password together, so that a failure
// changes neither.
func (p users) updateUser(c *urfave.Context) error {
	var update account.Update
	if c.String("role") != "" {
		role, err := parseRole(c.String("role"))
		if err != nil {
			return err
		}
		update.Role = &role
	}
	if c.Bool("new-password") || c.Bool("password-stdin") || c.Bool("generate") {
		password, err := p.newPassword(c)
		if err != nil {
			return err
		}
		update.Password = &password
	}
	if update == (account.Update{}) {
		return cli.Usagef("user update needs --role, --new-password, --password-stdin or --generate")
	}
	return p.update(c, update)
}

func (p users) updateRole(c *urfave.Context) error {
	role, err := parseRole(c.Args().Get(1))
	if err != nil {
		return err
	}
	return p.update(c, account.Update{Role: &role})
}

func (p users) updatePassword(c *urfave.Context) error {
	password, err := p.newPassword(c)
	if err != nil {
		return err
	}
	return p.update(c, account.Update{Password: &password})
}

func (p users) update(c *urfave.Context, update account.Update) error {
	return p.edit(c.Context, func(e *account.Editor) error {
		err := e.UpdateUser(c.Context, c.Args().First(), update)
		if err != nil {
			return err
		}
		if update.Password != nil {
			return p.showPassword(c, *update.Password)
		}
		return nil
	})
}
