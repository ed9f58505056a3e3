package whd

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/daemon/account"
)

// users are the commands on users.
type users struct{ accounts }

func (p users) commands() []*urfave.Command {
	settings := p.settingFlags(storing...)
	return []*urfave.Command{{Name: "user", Usage: "the users of the service", Subcommands: []*urfave.Command{
		{Name: "add", ArgsUsage: "NAME", Usage: "add a user", Action: p.addUser, Flags: slices.Concat(passwordFlags(), []urfave.Flag{roleFlag()}, settings)},
		{Name: "list", Usage: "list the users", Action: p.listUsers, Flags: settings},
		{Name: "remove", ArgsUsage: "NAME", Usage: "remove a user and end their sessions", Action: p.removeUser, Flags: settings},
		{Name: "role", ArgsUsage: "NAME ROLE", Usage: "give a user another role", Action: p.setUserRole, Flags: settings},
		{Name: "password", ArgsUsage: "NAME", Usage: "give a user another password and end their sessions", Action: p.setUserPassword, Flags: append(passwordFlags(), settings...)},
	}}}
}

func (p users) addUser(c *urfave.Context) error {
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
		p.showPassword(c, password)
		return p.warnWithoutAdmin(c.Context, accounts)
	})
}

// warnWithoutAdmin says what would otherwise be noticed late: a store that has
// users gets no first user of its own.
func (p users) warnWithoutAdmin(ctx context.Context, accounts *account.Service) error {
	users, err := accounts.Users(ctx)
	if err == nil && !slices.ContainsFunc(users, func(u account.User) bool { return u.Role == account.Admin }) {
		p.notice("warning: no user is an admin, and serve adds one only where there are no users; see whd user role")
	}
	return err
}

func (p users) listUsers(c *urfave.Context) error {
	return p.withAccounts(c.Context, func(accounts *account.Service) error {
		users, err := accounts.Users(c.Context)
		if err != nil {
			return err
		}
		columns := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(columns, "NAME\tROLE\tADDED")
		for _, u := range users {
			fmt.Fprintf(columns, "%s\t%s\t%s\n", u.Name, u.Role, minute(u.Added))
		}
		return columns.Flush()
	})
}

func (p users) removeUser(c *urfave.Context) error {
	return p.edit(c.Context, func(e *account.Editor) error { return e.RemoveUser(c.Context, c.Args().First()) })
}

func (p users) setUserRole(c *urfave.Context) error {
	role, err := parseRole(c.Args().Get(1))
	if err != nil {
		return err
	}
	return p.edit(c.Context, func(e *account.Editor) error { return e.SetRole(c.Context, c.Args().First(), role) })
}

func (p users) setUserPassword(c *urfave.Context) error {
	password, err := p.newPassword(c)
	if err != nil {
		return err
	}
	return p.edit(c.Context, func(e *account.Editor) error {
		if err := e.SetPassword(c.Context, c.Args().First(), password); err != nil {
			return err
		}
		p.showPassword(c, password)
		return nil
	})
}
