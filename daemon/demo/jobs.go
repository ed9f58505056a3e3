package demo

// resources are what jobs are estimated in, with their unit and what one costs.
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

// resource is the one that a line of an estimate is for.
func resource(r row) int { return r.dice("resource").IntN(len(resources)) }

func resourceID(r row) any { return jobResources.at(resource(r)) }

func resourceUnits(r row) any { return resources[resource(r)].units }

// resourceCost is the list price, a little more every year.
func resourceCost(r row) amount {
	cost := resources[resource(r)].cost
	return cost + cost*amount(workday(r).Year()-2019)*3/100
}

func unitCost(r row) any { return resourceCost(r).String() }

// unitCharge adds a margin.
func unitCharge(r row) any {
	margin := pick(r.own(), []amount{0, 15, 20, 25, 33, 40})
	cost := resourceCost(r)
	return (cost + cost*margin/100).String()
}
