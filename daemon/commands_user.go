package daemon

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/bizhook/whd/daemon/account"
)

func userAdd(ctx context.Context, c *call) error {
	role, err := c.role()
	if err != nil {
		return err
	}
	password, madeUp, err := c.newPassword(ctx)
	if err != nil {
		return err
	}
	return c.withAccounts(ctx, func(accounts *account.Service) error {
		user := account.NewUser{Name: c.args[0], Role: role, Password: password}
		if _, err := accounts.As(actor()).AddUser(ctx, user); err != nil {
			return err
		}
		c.tellPassword(password, madeUp)
		return c.warnWithoutAdmin(ctx, accounts)
	})
}

// warnWithoutAdmin says what would otherwise be noticed late: a store that has
// users gets no first user of its own.
func (c *call) warnWithoutAdmin(ctx context.Context, accounts *account.Service) error {
	users, err := accounts.Users(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(users, func(u account.User) bool { return u.Role == account.Admin }) {
		fmt.Fprintf(c.Stderr, "whd: warning: no user is an admin, and serve adds one only where there are no users; see whd user role\n")
	}
	return nil
}

func (c *call) tellPassword(password string, madeUp bool) {
	if madeUp {
		fmt.Fprintln(c.Stdout, password)
		fmt.Fprintln(c.Stderr, "whd: this is the password; it is not shown again")
	}
}

func userList(ctx context.Context, c *call) error {
	return c.withAccounts(ctx, func(accounts *account.Service) error {
		users, err := accounts.Users(ctx)
		if err != nil {
			return err
		}
		columns := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(columns, "NAME\tROLE\tADDED")
		for _, u := range users {
			fmt.Fprintf(columns, "%s\t%s\t%s\n", u.Name, u.Role, minute(u.Added))
		}
		return columns.Flush()
	})
}

func userRemove(ctx context.Context, c *call) error {
	return c.withAccounts(ctx, func(accounts *account.Service) error {
		return accounts.As(actor()).RemoveUser(ctx, c.args[0])
	})
}

func userRole(ctx context.Context, c *call) error {
	role, err := parseRole(c.args[1])
	if err != nil {
		return err
	}
	return c.withAccounts(ctx, func(accounts *account.Service) error {
		return accounts.As(actor()).SetRole(ctx, c.args[0], role)
	})
}

func userPassword(ctx context.Context, c *call) error {
	password, madeUp, err := c.newPassword(ctx)
	if err != nil {
		return err
	}
	return c.withAccounts(ctx, func(accounts *account.Service) error {
		if err := accounts.As(actor()).SetPassword(ctx, c.args[0], password); err != nil {
			return err
		}
		c.tellPassword(password, madeUp)
		return nil
	})
}
