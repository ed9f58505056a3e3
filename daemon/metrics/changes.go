package metrics

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/prometheus/client_golang/prometheus"
)

// listTimeout limits the time that a scrape waits for the state of captures.
const listTimeout = 3 * time.Second

// captureCollector collects the metrics of the capture of changes at each scrape.
type captureCollector struct {
	list                func(context.Context) ([]wire.Capture, error)
	lag, changes, swept *prometheus.Desc
}

// newCaptureCollector returns the collector of captures that a function lists.
func newCaptureCollector(list func(context.Context) ([]wire.Capture, error)) *captureCollector {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"kind"}, labels...), nil)
	}
	return &captureCollector{
		list: list,
		lag: describe("whd_changes_lag_seconds",
			"Time since the start of the last look that found all changes of a kind."),
		changes: describe("whd_changes_total", "Changes captured.", "op"),
		swept:   describe("whd_changes_swept_rows_total", "Rows read by sweeps."),
	}
}

// Describe implements prometheus.Collector.
func (c *captureCollector) Describe(to chan<- *prometheus.Desc) {
	to <- c.lag
	to <- c.changes
	to <- c.swept
}

// Collect implements prometheus.Collector. Without the state there are no values.
func (c *captureCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	list, _ := c.list(ctx)
	for _, capture := range list {
		kind := capture.Kind
		lag := time.Duration(capture.Lag).Seconds()
		to <- prometheus.MustNewConstMetric(c.lag, prometheus.GaugeValue, lag, kind)
		swept := float64(capture.SweptRows)
		to <- prometheus.MustNewConstMetric(c.swept, prometheus.CounterValue, swept, kind)
		for op, n := range map[string]int64{
			wire.OpCreated: capture.Created,
			wire.OpUpdated: capture.Updated,
			wire.OpDeleted: capture.Deleted,
		} {
			to <- prometheus.MustNewConstMetric(c.changes, prometheus.CounterValue, float64(n), kind, op)
		}
	}
}
