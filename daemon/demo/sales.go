package demo

// invoiceSizes are what invoices come to, without tax; a size that stands
// twice is twice as common.
var invoiceSizes = []struct{ lo, hi amount }{
	{8 * unit, 120 * unit},
	{60 * unit, 900 * unit},
	{60 * unit, 900 * unit},
	{400 * unit, 4800 * unit},
	{400 * unit, 4800 * unit},
	{2500 * unit, 19000 * unit},
	{15000 * unit, 86000 * unit},
}

// freight is what cartage costs, by carrier.
var freight = [...][]amount{
	{0, 0, 9*unit + 50*cent, 14*unit + 95*cent, 25 * unit, 48 * unit},
	{0, 0, 0, 0, 0, 0, 0, 135 * unit, 220*unit + 40*cent},
	{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 310 * unit},
}

// tax is a tenth, not rounded to cents, as the ERP keeps it.
func tax(a amount) amount { return a / 10 }

// cartage is what one of the three carriers charged for an invoice.
func cartage(carrier int) func(row) amount {
	purpose := [...]string{"cartage 1", "cartage 2", "cartage 3"}[carrier]
	return func(r row) amount { return pick(r.dice(purpose), freight[carrier]) }
}

// invoiceTotal is goods and cartage with their tax. One in 25 is a credit note.
func invoiceTotal(r row) any {
	d := r.dice("invoice")
	size := pick(d, invoiceSizes)
	total := between(d, size.lo, size.hi, 5*cent)
	if d.IntN(6) == 0 {
		total = total * 2 / 3 // a discount that leaves more than cents
	}
	for carrier := range freight {
		total += cartage(carrier)(r)
	}
	total += tax(total)
	if d.IntN(25) == 0 {
		total = -total
	}
	return total.String()
}

func cartageTotal(carrier int) maker {
	return func(r row) any { return cartage(carrier)(r).String() }
}

func cartageTax(carrier int) maker {
	return func(r row) any { return tax(cartage(carrier)(r)).String() }
}
