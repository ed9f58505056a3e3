package kinds

import "strings"

// taken are the names of operations and types of the service's interface, which a kind
// cannot have. A test compares them with the service.
const taken = `
`

// Taken returns the names that a kind and its operation cannot have.
func Taken() []string { return strings.Fields(taken) }
