package config

import "testing"

func TestLogsRequests(t *testing.T) {
	for _, test := range []struct {
		requests, level string
		requestLog      bool
		want            bool
	}{
		{"auto", "info", true, false},
		{"auto", "info", false, true},
		{"auto", "debug", true, true},
		{"always", "info", true, true},
		{"never", "debug", false, false},
	} {
		c := Config{Log: LogConfig{Requests: test.requests, Level: test.level}}
		c.RequestLog.Enabled = test.requestLog
		if got := c.LogsRequests(); got != test.want {
			t.Errorf("%+v: got %v, want %v", test, got, test.want)
		}
	}
}
