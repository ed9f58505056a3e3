package daemon

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/config"
)

const (
	keyLife = "90d" // unless --expires says otherwise
	forever = "never"
)

func keyOptions() []config.Option {
	return []config.Option{roleOption(), {Name: "expires", Argument: "TIME|" + forever, Help: "how long the key works (default " + keyLife + ")"}}
}

func keyAdd(ctx context.Context, c *call) error {
	role, err := c.role()
	if err != nil {
		return err
	}
	expires, err := expiry(cmp.Or(c.own["expires"], keyLife), time.Now())
	if err != nil {
		return err
	}
	return c.withAccounts(ctx, func(accounts *account.Service) error {
		secret, key, err := accounts.As(actor()).AddKey(ctx, account.NewKey{Name: c.args[0], Role: role, Expires: expires})
		if err != nil {
			return err
		}
		fmt.Fprintln(c.Stdout, secret)
		fmt.Fprintf(c.Stderr, "whd: this is the API key %s, a %s; expires: %s; it is not shown again\n", key.Name, key.Role, minute(key.Expires))
		return nil
	})
}

// expiry is when a key that is made now ends; the zero time is never.
func expiry(life string, now time.Time) (time.Time, error) {
	if life == forever {
		return time.Time{}, nil
	}
	d, err := config.ParseDuration(life)
	if err != nil {
		return time.Time{}, config.Usagef("--expires: %v, nor %s", err, forever)
	}
	return now.Add(d).UTC(), nil
}

func keyList(ctx context.Context, c *call) error {
	return c.withAccounts(ctx, func(accounts *account.Service) error {
		keys, err := accounts.Keys(ctx)
		if err != nil {
			return err
		}
		columns := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(columns, "ID\tNAME\tROLE\tADDED\tEXPIRES\tLAST USED")
		for _, k := range keys {
			fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, k.Role, minute(k.Added), minute(k.Expires), minute(k.LastUsed))
		}
		return columns.Flush()
	})
}

func keyRemove(ctx context.Context, c *call) error {
	return c.withAccounts(ctx, func(accounts *account.Service) error {
		return accounts.As(actor()).RemoveKey(ctx, c.args[0])
	})
}
