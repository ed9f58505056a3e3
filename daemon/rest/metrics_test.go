package rest_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/bizhook/whd/daemon/daemontest"
)

// TestMetricsFollowTheConvention checks names, units and help of all metrics with
// promtool check metrics.
func TestMetricsFollowTheConvention(t *testing.T) {
	c := anonymous(t, daemontest.Start(t))
	c.do("GET /Info", "").want(t, 200)
	text := c.do("GET /metrics", "").want(t, 200).body
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("the metric %s: %s", p.Metric, p.Text)
	}
	if !strings.Contains(text, `whd_build_info{version="`) {
		t.Error("the version is missing")
	}
}
