package daemon_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/daemontest"
)

// metric describes one metric of the daemon.
type metric struct{ kind, help, labels string }

var (
	metricComment = regexp.MustCompile(`(?m)^# (HELP|TYPE) (whd_\w+) (.*)$`)
	metricSample  = regexp.MustCompile(`(?m)^(whd_\w+)\{([^}]*)\} `)
	metricLabel   = regexp.MustCompile(`(\w+)="`)
)

// readMetrics parses the daemon's own metrics from the text of /metrics.
func readMetrics(text string) map[string]metric {
	all := make(map[string]metric)
	for _, m := range metricComment.FindAllStringSubmatch(text, -1) {
		described := all[m[2]]
		if m[1] == "HELP" {
			described.help = m[3]
		} else {
			described.kind = m[3]
		}
		all[m[2]] = described
	}
	for _, m := range metricSample.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSuffix(m[1], "_bucket")
		sampled, ok := all[name]
		if !ok { // the sum and the count of a histogram
			continue
		}
		var labels []string
		for _, label := range metricLabel.FindAllStringSubmatch(m[2], -1) {
			if label[1] != "le" {
				labels = append(labels, "`"+label[1]+"`")
			}
		}
		sampled.labels = strings.Join(labels, ", ")
		all[name] = sampled
	}
	return all
}

func metricsTable(all map[string]metric) string {
	var b strings.Builder
	b.WriteString("| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, all[name].kind, all[name].labels, all[name].help)
	}
	return b.String()
}

// TestDocsMetrics compares the table in the manual with the metrics of a daemon;
// -update writes it.
func TestDocsMetrics(t *testing.T) {
	i := daemontest.Start(t)
	get(t, i.URL+"/auth?Colour=red") // so that a request with an ignored member is counted
	_, shown := get(t, i.URL+"/metrics")
	daemon.CheckTable(t, "metrics", metricsTable(readMetrics(shown)))
}

// TestMetricNames checks the conventions of Prometheus: the names of counters end with
// _total, those of others with their unit.
func TestMetricNames(t *testing.T) {
	_, shown := get(t, daemontest.Start(t).URL+"/metrics")
	for name, m := range readMetrics(shown) {
		if m.help == "" || !strings.HasSuffix(m.help, ".") {
			t.Errorf("%s: help %q", name, m.help)
		}
		if strings.HasSuffix(name, "_total") != (m.kind == "counter") ||
			m.kind == "histogram" && !strings.HasSuffix(name, "_seconds") {
			t.Errorf("%s is a %s", name, m.kind)
		}
	}
}
