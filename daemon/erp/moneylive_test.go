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
)

// TestMoneyComparisons compares money columns with operands that they can and cannot hold.
// The result is that of exact arithmetic.
func TestMoneyComparisons(t *testing.T) {
	dsn := mssqltest.Database(t)
	values := []string{"-214748.3648", "-1.0001", "-0.0001", "0.0000", "0.0001", "1.0000", "1.0001", "12.5000", "214748.3647"}
	mssqltest.Exec(t, dsn, `CREATE TABLE INMGT020POQty (INVENTORYID varchar(20), Qty money, Delivered smallmoney, UnactQty money, ActQty money, IN_LogicalID int)`)
	for _, v := range values {
		mssqltest.Exec(t, dsn, `INSERT INTO INMGT020POQty (INVENTORYID, Qty, Delivered) VALUES ('`+v+`', CAST('`+v+`' AS money), CAST('`+v+`' AS smallmoney))`)
	}
	s := openServer(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	operators := map[record.Operator]func(int) bool{
		record.Equal: func(c int) bool { return c == 0 }, record.NotEqualTo: func(c int) bool { return c != 0 },
		record.GreaterThan: func(c int) bool { return c > 0 }, record.GreaterThanOrEqualTo: func(c int) bool { return c >= 0 },
		record.LessThan: func(c int) bool { return c < 0 }, record.LessThanOrEqualTo: func(c int) bool { return c <= 0 },
	}
	operands := []string{
		"0", "1", "1.00", "1.000100", "1.00005", "1.00015", "-1.00005", "-0.00005", "0.00005", "12.5", "300000", "-300000",
		"214748.36471", "-214748.36481", "922337203685477.5807", "922337203685477.58071", "-922337203685477.58081", "99999999999999999999999999999999999999",
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
				got, err := firsts(t, s, "INMGT020POQty", field+op.Suffix(), operand)
				all := strings.Split(got, ",")
				slices.Sort(all)
				if err != nil || strings.Join(all, ",") != strings.Join(want, ",") {
					t.Errorf("%s %s %s: %q (%v), want %q", field, op, operand, all, err, want)
				}
			}
		}
	}
	for _, count := range []int{0, 60} { // a list of parameters, and one in JSON
		list := strings.Join(append(slices.Repeat([]string{"7.00005"}, count), operands...), ",")
		for _, field := range []string{"Qty", "Delivered"} {
			if got, err := firsts(t, s, "INMGT020POQty", field+"In", list, "OrderBy", field); got != "0.0000,1.0000,1.0001,12.5000" {
				t.Errorf("%s in a list of %d: %s (%v)", field, count, got, err)
			}
		}
	}
}
