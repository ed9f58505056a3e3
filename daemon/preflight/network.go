package preflight

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/webhook"
)

// networkTimeout is the time limit for a request or a look-up.
const networkTimeout = 5 * time.Second

// checkHostURL requests /healthz at webhooks.host_url.
func checkHostURL(ctx context.Context, r *run) []check.Result {
	address := r.config.Webhooks.HostURL
	if address == "" || !r.config.Webhooks.Enabled {
		return result(check.Skipped, "")
	}
	if config.IsLoopback(address) {
		return result(check.Warning,
			"%s is a loopback address; set it to the URL that users of the service open", address)
	}
	ctx, cancel := context.WithTimeout(ctx, networkTimeout)
	defer cancel()
	healthURL := strings.TrimSuffix(address, "/") + "/healthz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, healthURL, nil)
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return result(check.Warning, "no response: %v; %s", err, addressRemedy(runtime.GOOS))
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 16))
	if response.StatusCode != http.StatusOK || string(text) != "ok\n" {
		return result(check.Warning, "another service responds at %s (status %d)",
			address, response.StatusCode)
	}
	return result(check.OK, "%s responds", address)
}

// maxReported is the maximum number of reported subscriptions.
const maxReported = 20

// checkTargets checks that the targets of enabled subscriptions are allowed and have
// addresses. It sends nothing.
func checkTargets(ctx context.Context, r *run) []check.Result {
	if r.store == nil || !r.config.Webhooks.Enabled || r.store.AppDB.Ready(ctx) != nil {
		return result(check.Skipped, "")
	}
	snapshot, err := r.store.Webhooks.Engine.Snapshot(ctx)
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	guard := webhook.Guard{Allow: r.config.Webhooks.AllowTargets}
	hosts := make(map[string]string) // host -> problem, "" for none
	var problems []check.Result
	enabled := 0
	byID := func(a, b *webhook.Subscription) int { return cmp.Compare(a.ID, b.ID) }
	for _, sub := range slices.SortedFunc(snapshot.Subscriptions, byID) {
		if !sub.Active() {
			continue
		}
		enabled++
		if problem := r.target(ctx, guard, sub, hosts); problem != "" {
			problems = append(problems, result(check.Warning, "subscription %s of %s: %s",
				sub.GUID, sub.SubscriberInfo.Name, problem)...)
		}
	}
	if problems == nil {
		return result(check.OK, "%d enabled", enabled)
	}
	return limited(problems)
}

// limited returns the first of many warnings, and the number of the others.
func limited(warnings []check.Result) []check.Result {
	further := len(warnings) - maxReported
	if further <= 0 {
		return warnings
	}
	return append(warnings[:maxReported], result(check.Warning, "and %d more", further)...)
}

// target returns the problem with a subscription's target, "" if there is none. It
// contains only the host of the URL, since the rest may be secret.
func (r *run) target(
	ctx context.Context, guard webhook.Guard, sub *webhook.Subscription, hosts map[string]string,
) string {
	u, err := url.Parse(sub.URL)
	if err != nil {
		return "its URL is invalid"
	}
	if self := r.config.Webhooks.TestTarget(); self != nil && self.Host == u.Host {
		return ""
	}
	if err := guard.CheckURL(u, sub.MadeByAdmin); err != nil {
		return err.Error()
	}
	if r.proxyResolves(u.Hostname(), sub.MadeByAdmin) {
		return ""
	}
	key := u.Host + strconv.FormatBool(sub.MadeByAdmin)
	problem, ok := hosts[key]
	if !ok {
		problem = resolutionProblem(ctx, guard, u, sub.MadeByAdmin)
		hosts[key] = problem
	}
	return problem
}

// proxyResolves reports whether this machine need not know the name of a host.
func (r *run) proxyResolves(host string, madeByAdmin bool) bool {
	way := r.config.Webhooks.Way
	outbound := webhook.Outbound{ProxyResolves: way.ProxyResolves}
	return outbound.ResolvesFor(madeByAdmin) && !webhook.Hosts(way.NoProxy).HasName(host)
}

// resolutionProblem returns the reason why no address of a host name is allowed, "" if one
// is.
func resolutionProblem(ctx context.Context, guard webhook.Guard, u *url.URL, private bool) string {
	ctx, cancel := context.WithTimeout(ctx, networkTimeout)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return fmt.Sprintf("cannot resolve %s", u.Hostname())
	}
	var refused error
	for _, address := range addresses {
		refused = guard.Check(netip.AddrPortFrom(address, 0), private)
		if refused == nil {
			return ""
		}
	}
	return fmt.Sprintf("%s: %v", u.Hostname(), refused)
}
