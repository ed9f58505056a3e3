package display

import (
	"fmt"
	"math"
)

// Percent formats a share from 0 to 1 as a number of percent, without the sign. Only all is 100, and
// only none is 0.
func Percent(share float64) string {
	if share <= 0 || share >= 1 {
		return fmt.Sprintf("%.0f", 100*share)
	}
	tenths := max(1, math.Floor(1000*share))
	return fmt.Sprintf("%.1f", tenths/10)
}
