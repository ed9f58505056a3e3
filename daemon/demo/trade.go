package demo

// invoiceSizes are amounts of invoices without tax; repeated amounts are more frequent.
var invoiceSizes = []struct{ lo, hi amount }{
	{8 * unit, 120 * unit},
	{60 * unit, 900 * unit},
	{60 * unit, 900 * unit},
	{400 * unit, 4800 * unit},
	{400 * unit, 4800 * unit},
	{2500 * unit, 19000 * unit},
	{15000 * unit, 86000 * unit},
}

// freight is the cost of cartage by carrier.
var freight = [...][]amount{
	{0, 0, 9*unit + 50*cent, 14*unit + 95*cent, 25 * unit, 48 * unit},
	{0, 0, 0, 0, 0, 0, 0, 135 * unit, 220*unit + 40*cent},
	{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 310 * unit},
}

// cartages are the purposes of random numbers by carrier.
var cartages = [...]string{"cartage 1", "cartage 2", "cartage 3"}

// tax returns 10 % of an amount, not rounded to cents, as stored by the ERP.
func tax(a amount) amount { return a / 10 }

// cartage returns the charge of one of the three carriers for an invoice.
func cartage(carrier int) func(row) amount {
	purpose := cartages[carrier]
	return func(r row) amount { return pick(r.random(purpose), freight[carrier]) }
}

// invoiceTotal returns the total of goods, cartage and tax. One in 25 is a credit note.
func invoiceTotal(r row) any {
	d := r.random("invoice")
	size := pick(d, invoiceSizes)
	total := between(d, size.lo, size.hi, 5*cent)
	if d.IntN(6) == 0 {
		total = total * 2 / 3 // a discount that results in fractions of cents
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

// warehousesPerItem is the number of warehouses for which an item is ordered.
const warehousesPerItem = 3

// order contains the quantities of an item on order for a warehouse. Quantities not yet
// delivered are due on orders that are active or not yet active.
type order struct{ quantity, delivered, inactive, active amount }

func ordered(r row) order {
	d := r.random("order")
	pack := pick(d, []amount{unit, unit, 6 * unit, 12 * unit, 2*unit + unit/2})
	o := order{quantity: pack * amount(d.IntN(60))}
	if d.IntN(3) > 0 {
		o.delivered = between(d, 0, o.quantity, pack)
	}
	o.active = o.quantity - o.delivered
	if d.IntN(4) == 0 {
		o.inactive = o.active
		o.active = 0
	}
	return o
}

// orderedAmount generates one of the four quantities of an order.
func orderedAmount(which func(order) amount) maker {
	return func(r row) any { return which(ordered(r)).String() }
}

// resources are the resources of job estimates, with unit and cost.
var resources = []struct {
	units string
	cost  amount
}{
	{"Hour", 48 * unit},
	{"Hour", 72*unit + 50*cent},
	{"Hour", 115 * unit},
	{"Day", 540 * unit},
	{"km", 88 * cent},
	{"m²", 23*unit + 75*cent},
	{"Each", 6*unit + 4999},
	{"Übernachtung", 139 * unit},
	{"式", 1200 * unit},
}

// resource returns the resource of an estimate line.
func resource(r row) int { return r.random("resource").IntN(len(resources)) }

// resourceCost returns the list price, which increases every year.
func resourceCost(r row) amount {
	cost := resources[resource(r)].cost
	return cost + cost*amount(workday(r).Year()-2019)*3/100
}

// unitCharge returns the cost plus a margin.
func unitCharge(r row) any {
	margin := pick(r.fieldRandom(), []amount{0, 15, 20, 25, 33, 40})
	cost := resourceCost(r)
	return (cost + cost*margin/100).String()
}
