package daemon_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

const (
	dashboardFile = "../cmd/daemon/deploy/grafana.json"
	alertsFile    = "../cmd/daemon/deploy/alerts.yaml"
)

var (
	metricKind = regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)$`)
	metricName = regexp.MustCompile(`\b(?:whd|process|go)_\w+`)
	selector   = regexp.MustCompile(`\b(\w+)\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	ofTarget   = []string{"job", "instance", "le"} // labels that Prometheus adds
)

// shownMetrics returns the names that queries may use for the metrics of a daemon, and
// the daemon's own metrics.
func shownMetrics(t *testing.T) (names map[string]bool, metrics map[string]metric) {
	t.Helper()
	i := daemontest.Start(t)
	get(t, i.URL+"/metrics")
	_, text := get(t, i.URL+"/metrics")
	names = make(map[string]bool)
	for _, m := range metricKind.FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
		if m[2] == "histogram" {
			names[m[1]+"_bucket"] = true
			names[m[1]+"_sum"] = true
			names[m[1]+"_count"] = true
		}
	}
	return names, readMetrics(text)
}

// expressions returns the queries of the dashboard and of the alerts.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}

	var board struct {
		Panels []struct {
			ID                 int
			Type               string
			Title, Description string
			Targets            []struct{ Expr string }
		}
	}

	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}

	seen := make(map[int]bool)
	for _, p := range board.Panels {
		if seen[p.ID] || p.Title == "" {
			t.Errorf("panel %d, %q, has no title, or the ID of another one", p.ID, p.Title)
		}
		isGraph := p.Type != "row"
		if isGraph && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("panel %d, %q, has no description, or no query", p.ID, p.Title)
		}
		seen[p.ID] = true
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}

	rules, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}

	return append(all, alertExpressions(string(rules))...)
}

// alertExpressions returns the text between expr and for or labels.
func alertExpressions(rules string) (all []string) {
	for _, rule := range strings.Split(rules, "- alert: ")[1:] {
		_, after, _ := strings.Cut(rule, "expr:")
		query, _, _ := strings.Cut(after, "\n        labels:")
		query, _, _ = strings.Cut(query, "\n        for:")
		all = append(all, query)
	}
	return all
}

// TestWatchedMetricsExist checks that the daemon has every metric and label that the
// dashboard and the alerts use, and that the dashboard shows every metric.
func TestWatchedMetricsExist(t *testing.T) {
	names, metrics := shownMetrics(t)
	watched := make(map[string]bool)
	for _, query := range expressions(t) {
		found := metricName.FindAllString(query, -1)
		if len(found) == 0 && !strings.Contains(query, "up{") {
			t.Errorf("no metric in %s", query)
		}
		for _, name := range found {
			watched[histogramOf(name)] = true
			if !names[name] {
				t.Errorf("there is no metric %s, used in %s", name, query)
			}
		}
		for _, s := range selector.FindAllStringSubmatch(query, -1) {
			for _, label := range matcher.FindAllStringSubmatch(s[2], -1) {
				labels := metrics[histogramOf(s[1])].labels + "`" + strings.Join(ofTarget, "``") + "`"
				if !strings.Contains(labels, "`"+label[1]+"`") {
					t.Errorf("%s has no label %s, used in %s", s[1], label[1], query)
				}
			}
		}
	}
	for name := range metrics {
		if !watched[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// histogramOf returns the metric that a series belongs to.
func histogramOf(name string) string {
	for _, end := range []string{"_bucket", "_sum", "_count"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// TestAlerts checks the alerts with promtool, if it is installed, on the synthetic series
// of testdata/alerts.test.yaml.
func TestAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool, a part of Prometheus, is not installed")
	}
	for _, args := range [][]string{
		{"check", "rules", alertsFile},
		{"test", "rules", "testdata/alerts.test.yaml"},
	} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %q: %v\n%s", args, err, out)
		}
	}
}
