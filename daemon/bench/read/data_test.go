package read

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"sync"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/storage"
)

// The numbers of rows in the measurements.
const (
	small = 100_000
	large = 1_000_000
)

// data is a data directory of the daemon with rows of SO_Totals, a first user, and
// an API key; the rows are in the directory or on a server.
type data struct {
	dir    string
	rows   int
	key    string
	server string // the server's connection string; "" for none
	env    string // settings of the daemon, NAME=value separated by spaces
}

func totals(registry *record.Registry) *record.Kind {
	kind, _ := registry.Lookup("SO_Totals") // built in
	return kind
}

// fill creates a data directory.
func fill(dir string, count int, rows iter.Seq[[]any]) (data, error) {
	ctx := context.Background()
	registry := record.Builtin()
	s, err := storage.Open(ctx, storage.Config{Dir: dir, Registry: registry})
	if err != nil {
		return data{}, err
	}
	kinds := []*record.Kind{totals(registry)}
	_, err = s.Load(ctx, kinds, func(*record.Kind) iter.Seq[[]any] { return rows })
	if err != nil {
		return data{}, errors.Join(err, s.Close())
	}
	key, err := addKey(ctx, s)
	return data{dir: dir, rows: count, key: key}, errors.Join(err, s.Close())
}

// addKey adds the client's API key and the first user. If the daemon created the
// user, hashing the password would count towards the memory benchmark (R8 in main_test.go).
func addKey(ctx context.Context, s *storage.Store) (string, error) {
	accounts, err := account.New(account.Config{Store: s.AppDB.Accounts()})
	if err != nil {
		return "", err
	}
	if _, err := accounts.EnsureAdmin(ctx, "a password for benchmarks only"); err != nil {
		return "", err
	}
	key, _, err := accounts.As(audit.System()).AddKey(ctx, account.NewKey{Name: "bench", Role: account.Reader})
	return key, err
}

// filled returns a function that fills a directory on its first call.
func filled(parent string, count int) func() (data, error) {
	return sync.OnceValues(func() (data, error) {
		return fill(filepath.Join(parent, fmt.Sprint(count)), count, invoices(count))
	})
}

// invoices returns deterministic rows of SO_Totals: sums in decimal(19,4) with ten
// percent tax, one in 50 without the third cartage.
func invoices(count int) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		dice := rand.New(rand.NewPCG(1, 2))
		for n := range count {
			values := []any{invoiceID(n)}
			values = append(values, money(dice.Int64N(25_000_0000)))
			for carrier := range 3 {
				values = append(values, cartage(dice, carrier, n)...)
			}
			if !yield(values) {
				return
			}
		}
	}
}

// idDigits is the number of digits of an invoice number.
const idDigits = 7

func invoiceID(n int) string { return fmt.Sprintf("D%0*d", idDigits, n) }

// cartage returns a carrier's charge, in steps of five cents, and its tax.
func cartage(dice *rand.Rand, carrier, n int) []any {
	if carrier == 2 && n%50 == 0 {
		return []any{nil, nil}
	}
	charge := dice.Int64N(500) * dice.Int64N(2) * 500
	return []any{money(charge), money(charge / 10)}
}

// money formats an amount of ten-thousandths.
func money(n int64) string { return fmt.Sprintf("%d.%04d", n/10_000, n%10_000) }
