package dialect

import (
	"math"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// moneyLimits are the types for amounts of SQL Server, which count units of 1/10000, and
// their last values in units. Compared with a decimal, such a column would be
// converted for each row, and its index would not be used.
var moneyLimits = map[string]int64{"money": math.MaxInt64, "smallmoney": math.MaxInt32}

const moneyDigits = 4 // after the point

// money converts the operand of a comparison with a money column, and returns the type to
// cast it to. That type is empty if the comparison needs the operand's own digits: the
// column is not of such a type or cannot hold the operand, or no value can be equal to it.
func money(c Column, op record.Operator, operand string) (castTo, fitted string) {
	last, isMoney := moneyLimits[c.Type]
	below, exact, ok := moneyUnits(operand)
	switch {
	case !isMoney || !ok || !exact && (op == record.Equal || op == record.NotEqualTo):
		return "", operand
	case !exact && (op == record.GreaterThanOrEqualTo || op == record.LessThan):
		below++
	}
	if below > last || below < -last-1 {
		return "", operand
	}
	digits := strings.TrimPrefix(strconv.FormatInt(below, 10), "-")
	if missing := moneyDigits + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - moneyDigits
	fitted = digits[:point] + "." + digits[point:]
	if below < 0 {
		fitted = "-" + fitted
	}
	return c.Type, fitted
}

// moneyUnits returns the last number of units that is not above a decimal. It is not ok if
// that or the next one exceeds 64 bits.
func moneyUnits(decimal string) (units int64, exact, ok bool) {
	whole, fraction, _ := strings.Cut(decimal, ".")
	cut := ""
	if len(fraction) > moneyDigits {
		fraction, cut = fraction[:moneyDigits], fraction[moneyDigits:]
	}
	units, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", moneyDigits-len(fraction)), 10, 64)
	exact = strings.Trim(cut, "0") == ""
	ok = err == nil && (exact || units > math.MinInt64 && units < math.MaxInt64)
	if !exact && strings.HasPrefix(decimal, "-") {
		units--
	}
	return units, exact, ok
}
