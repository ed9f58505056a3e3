package trace

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// headerVariables are the standard variables with request headers, such as credentials,
// for the collector.
var headerVariables = []string{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"}

// checkVariables returns errors for URLs and headers that the library would ignore after
// logging them, with the secrets in them.
func checkVariables() error {
	var errs []error
	for _, name := range endpointVariables {
		if text := strings.TrimSpace(os.Getenv(name)); text != "" && !isCollector(text) {
			errs = append(errs,
				fmt.Errorf("the variable %s is not a URL such as http://127.0.0.1:4318; put credentials into %s",
					name, headerVariables[1]))
		}
	}
	for _, name := range headerVariables {
		if text := strings.TrimSpace(os.Getenv(name)); text != "" && !areHeaders(text) {
			errs = append(errs,
				fmt.Errorf("the variable %s is not a list such as name=value,name=value with URL-encoded values", name))
		}
	}
	return errors.Join(errs...)
}

func isCollector(text string) bool {
	u, err := url.Parse(text)
	isHTTP := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	return isHTTP && u.Hostname() != "" && u.User == nil
}

func areHeaders(text string) bool {
	for pair := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		isToken := name != "" && !strings.ContainsFunc(name, notOfToken)
		if _, err := url.PathUnescape(value); err != nil || !found || !isToken {
			return false
		}
	}
	return true
}

// notOfToken reports whether a character is not allowed in the name of a header.
func notOfToken(c rune) bool {
	return c <= ' ' || c >= 0x7F || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
}
