package erp_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

// TestMoneyComparisons compares money columns with operands that they can and cannot hold.
// The result is that of exact arithmetic.
func TestMoneyComparisons(t *testing.T) {
	dsn := mssqltest.Database(t)
	values := []string{
		"-214748.3648", "-1.0001", "-0.0001", "0.0000", "0.0001", "1.0000", "1.0001", "12.5000", "214748.3647",
	}
	mssqltest.Exec(t, dsn, `CREATE TABLE INMGT020POQty (
		INVENTORYID varchar(20), Qty money, Delivered smallmoney, UnactQty money, ActQty money, IN_LogicalID int)`)
	insert := `INSERT INTO INMGT020POQty (INVENTORYID, Qty, Delivered)
		VALUES ('VALUE', CAST('VALUE' AS money), CAST('VALUE' AS smallmoney))`
	for _, v := range values {
		mssqltest.Exec(t, dsn, strings.ReplaceAll(insert, "'VALUE'", "'"+v+"'"))
	}
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	operators := map[record.Operator]func(comparison int) bool{
		record.Equal:                func(c int) bool { return c == 0 },
		record.NotEqualTo:           func(c int) bool { return c != 0 },
		record.GreaterThan:          func(c int) bool { return c > 0 },
		record.GreaterThanOrEqualTo: func(c int) bool { return c >= 0 },
		record.LessThan:             func(c int) bool { return c < 0 },
		record.LessThanOrEqualTo:    func(c int) bool { return c <= 0 },
	}
	operands := []string{
		"0", "1", "1.00", "1.000100", "1.00005", "1.00015", "-1.00005", "-0.00005", "0.00005", "12.5",
		"300000", "-300000", "214748.36471", "-214748.36481", // around the bounds of smallmoney
		"922337203685477.5807", "922337203685477.58071", "-922337203685477.58081", // and of money
		"99999999999999999999999999999999999999",
	}
	for _, operand := range operands {
		right, _ := new(big.Rat).SetString(operand)
		for op, holds := range operators {
			var want []string
			for _, v := range values {
				left, _ := new(big.Rat).SetString(v)
				if holds(left.Cmp(right)) {
					want = append(want, v)
				}
			}
			slices.Sort(want)
			for _, field := range []string{"Qty", "Delivered"} {
				joined, err := firsts(t, s, "INMGT020POQty", field+op.Suffix(), operand)
				got := strings.Split(joined, ",")
				slices.Sort(got)
				if err != nil || strings.Join(got, ",") != strings.Join(want, ",") {
					t.Errorf("%s %s %s: got %q (%v), want %q", field, op, operand, got, err, want)
				}
			}
		}
	}
	for _, count := range []int{0, 60} { // a list of parameters, and one in JSON
		missing := slices.Repeat([]string{"7.00005"}, count)
		list := strings.Join(append(missing, operands...), ",")
		for _, field := range []string{"Qty", "Delivered"} {
			const want = "0.0000,1.0000,1.0001,12.5000"
			got, err := firsts(t, s, "INMGT020POQty", field+"In", list, "OrderBy", field)
			if got != want {
				t.Errorf("%s in a list with %d missing values: got %s (%v), want %s", field, count, got, err, want)
			}
		}
	}
}
