package changes

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// idleKinds measures the CPU of a daemon that captures 100 kinds while no row changes. The
// default interval of sweeps is a minute.
func idleKinds(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	const kinds = 100
	var text strings.Builder
	var statements []string
	for n := range kinds {
		name := fmt.Sprintf("Idle%d", n)
		text.WriteString(kindText(name, always))
		statements = append(statements, createTable(name, 1000)...)
	}
	h := prepare(b, text.String(), statements...)
	before := h.size(b, "whd.db", "shadow.db")
	h.launch(b)
	h.awaitFirstLook(b, kinds)
	looked := h.size(b, "whd.db", "shadow.db")
	used := h.cpuUsed(b, func() { time.Sleep(*span) })
	s.table.add(b, result{
		title:  fmt.Sprintf("%d kinds captured, idle for %s: share of a core", kinds, *span),
		metric: "idle-percent",
		unit:   "%",
		digits: 2,
		limit:  2,
		values: []float64{100 * used.Seconds() / span.Seconds()},
	})
	s.table.add(b, result{
		title:  "own store before the first look",
		metric: "before-MB",
		unit:   "MB",
		digits: 2,
		values: []float64{before},
	})
	s.table.add(b, result{
		title:  fmt.Sprintf("own store after it, with %d rows", kinds*1000),
		metric: "after-MB",
		unit:   "MB",
		digits: 2,
		values: []float64{looked},
	})
	s.table.add(b, result{
		title:  "own store after the idle time",
		metric: "idle-MB",
		unit:   "MB",
		digits: 2,
		values: []float64{h.size(b, "whd.db", "shadow.db")},
	})
}
