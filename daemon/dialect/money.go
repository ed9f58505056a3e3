package dialect

import (
	"math"
	"math/big"

	"github.com/bizhook/whd/client/record"
)

// moneyLimits are the types for amounts of SQL Server, which count units of 1/10000, and
// their last values in units. Compared with a decimal, such a column would be
// converted for each row, and its index would not be used.
var moneyLimits = map[string]int64{"money": math.MaxInt64, "smallmoney": math.MaxInt32}

const (
	moneyDigits = 4      // digits after the point
	moneyUnits  = 10_000 // units of the amount 1
)

// money converts the operand of a comparison with a money column, and returns the type to
// cast it to. That type is empty if the comparison needs the operand's own digits: the
// column is not of such a type or cannot hold the operand, or no value can be equal to it.
func money(c Column, op record.Operator, operand string) (castTo, fitted string) {
	last, isMoney := moneyLimits[c.Type]
	exact, ok := new(big.Rat).SetString(operand)
	if !isMoney || !ok {
		return "", operand
	}
	exact.Mul(exact, big.NewRat(moneyUnits, 1))
	units := new(big.Int).Div(exact.Num(), exact.Denom()) // the last amount that is not above the operand
	switch {
	case exact.IsInt():
	case op == record.Equal || op == record.NotEqualTo:
		return "", operand
	case op == record.GreaterThanOrEqualTo || op == record.LessThan:
		units.Add(units, big.NewInt(1))
	}
	if !units.IsInt64() || units.Int64() > last || units.Int64() < -last-1 {
		return "", operand
	}
	return c.Type, new(big.Rat).SetFrac64(units.Int64(), moneyUnits).FloatString(moneyDigits)
}
