package demo

// warehousesPerItem is how many warehouses an item is ordered for.
const warehousesPerItem = 3

func orderedItem(r row) any { return items.at(r.n / warehousesPerItem) }

func orderedFor(r row) any {
	return warehouses.at(r.n/warehousesPerItem + r.n%warehousesPerItem)
}

// order is what is on order of an item for a warehouse. What has not been
// delivered is due on orders that are active or not yet active.
type order struct{ quantity, delivered, inactive, active amount }

func ordered(r row) order {
	d := r.dice("order")
	pack := pick(d, []amount{unit, unit, 6 * unit, 12 * unit, 2*unit + unit/2})
	o := order{quantity: pack * amount(d.IntN(60))}
	if d.IntN(3) > 0 {
		o.delivered = between(d, 0, o.quantity, pack)
	}
	o.active = o.quantity - o.delivered
	if d.IntN(4) == 0 {
		o.inactive, o.active = o.active, 0
	}
	return o
}

// orderedAmount makes one of an order's four quantities.
func orderedAmount(which func(order) amount) maker {
	return func(r row) any { return which(ordered(r)).String() }
}
