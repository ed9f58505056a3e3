// Package wake has the signal that wakes a goroutine: an element in a channel with room for one.
package wake

// Signal wakes the goroutine that receives from c, or that receives next. Signals that have not
// been received count as one, and Signal never waits.
func Signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
