package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/erp/source"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
)

// forecast is the expected cost of capture of a kind.
type forecast struct {
	kind   *record.Kind
	table  changes.Table
	rows   int64         // negative if unknown
	size   int64         // bytes that a sweep reads
	shadow int64         // bytes of the shadow
	sweep  time.Duration // time that a sweep reads
	status check.Status
	reason string // reason why the kind is not captured; empty if it is
}

// checkChanges forecasts the cost of capture from one page of each captured kind.
func checkChanges(ctx context.Context, r *run) (results []check.Result) {
	var kinds []*record.Kind
	for _, kind := range r.config.ERP.Kinds.Registry().Kinds() {
		if kind.Captured() {
			kinds = append(kinds, kind)
		}
	}
	if r.store == nil || r.erpProblem != nil || len(kinds) == 0 {
		return result(check.Skipped, "")
	}
	from, err := source.New(r.store.Records, r.config.Query.TimeZone)
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	defer from.Close()
	stopped, err := stoppedCaptures(ctx, r)
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	var forecasts []forecast
	var reading time.Duration
	for _, kind := range kinds {
		f, err := newForecast(ctx, from, kind)
		if err != nil {
			f.status = check.Warning
			f.reason = fault.From(err).Message
		} else if reason := stopped[kind.Name]; reason != "" && f.reason == "" {
			f.status = check.Warning
			f.reason = reason
		}
		forecasts = append(forecasts, f)
		reading += f.sweep
	}
	share := float64(r.config.ERP.Changes.Share)
	interval := max(r.config.ERP.Changes.Sweep, time.Duration(float64(reading)/share))
	for _, f := range forecasts {
		results = append(results,
			result(f.status, "%s: %s", f.kind.Name, f.text(interval, share))...)
	}
	return append(results, checkRequested(ctx, r, kinds)...)
}

// checkRequested lists the kinds with a capture on demand that nothing requests. It knows the rights
// of the owners of subscriptions only from the captures that run or have run.
func checkRequested(ctx context.Context, r *run, kinds []*record.Kind) (results []check.Result) {
	if !r.config.Webhooks.Enabled || r.store.AppDB.Ready(ctx) != nil {
		return nil
	}
	stored, err := r.store.Changes.Captures(ctx)
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	snapshot, err := r.store.Webhooks.Engine.Snapshot(ctx)
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	for _, kind := range kinds {
		isCaptured := func(c changes.Capture) bool { return c.Kind == kind.Name && c.State.Phase != changes.Idle }
		if kind.Capture != record.CaptureOnDemand || slices.ContainsFunc(stored, isCaptured) {
			continue
		}
		if !isNamed(snapshot, kind) {
			results = append(results, result(check.OK, "%s: nothing requests its changes, so they are not captured: %s",
				kind.Name, webhook.HowToRequest(kind))...)
		}
	}
	return results
}

// isNamed reports whether a subscription of a user names an event of a kind or its family.
func isNamed(s *webhook.Snapshot, kind *record.Kind) bool {
	if kind.Events == "" {
		return false
	}
	for _, op := range []changes.Op{changes.Created, changes.Updated, changes.Deleted} {
		for _, sub := range s.Match(kind.Events + "." + string(op)) {
			if sub.Pattern != "*" && sub.Owner.Name != "" {
				return true
			}
		}
	}
	return false
}

// stoppedCaptures returns why the service has stopped to capture kinds, by kind. Nothing is known
// before the service's tables are up to date.
func stoppedCaptures(ctx context.Context, r *run) (map[string]string, error) {
	if r.store.AppDB.Ready(ctx) != nil {
		return nil, nil
	}
	captures, err := r.store.Changes.Captures(ctx)
	if err != nil {
		return nil, err
	}
	stopped := make(map[string]string)
	for _, c := range captures {
		if c.State.Phase != changes.Stopped {
			continue
		}
		reason := "the capture has stopped, because " + c.State.Reason
		if c.State.Manual {
			reason += "; whctl changes resume " + c.Kind + " continues it"
		}
		stopped[c.Kind] = reason
	}
	return stopped, nil
}

// maxHashed is the number of fields up to which the shadow has a hash of each.
const maxHashed = 128

// shadowRow is the size in bytes of a row in the shadow, besides its key and the hashes of
// fields.
const shadowRow = 64

// hashSize is the size in bytes of the hash of a field in the shadow.
const hashSize = 4

// newForecast returns the forecast for a kind from one page of its table.
func newForecast(ctx context.Context, from *source.Source, kind *record.Kind) (forecast, error) {
	f := forecast{kind: kind, status: check.OK}
	var err error
	f.table, err = from.Table(ctx, kind)
	if err != nil {
		return f, err
	}
	f.rows = f.table.Rows
	if f.table.Key == nil {
		f.status = check.Failed
		f.reason = "no key is proven: none is declared, and the table or view has neither a primary key " +
			"nor a unique index without nulls; declare key in the file of the kind"
		return f, nil
	}

	fields := sweptFields(f.table)
	start := time.Now()
	page, err := from.Read(ctx, changes.Read{
		Kind:   kind,
		Fields: fields,
		Key:    f.table.Key,
		Limit:  changes.MaxRows,
	})
	took := time.Since(start)
	pageRows := int64(len(page.Rows))
	if err != nil || pageRows == 0 {
		return f, err
	}
	if !page.More {
		f.rows = pageRows
	} else if f.rows < pageRows {
		f.rows = -1
		return f, nil
	}

	size, keys := sizesOf(page, fields, f.table.Key)
	ofAllRows := func(ofPage int64) int64 { return ofPage * f.rows / pageRows }
	f.size = ofAllRows(size)
	f.shadow = ofAllRows(keys) + f.rows*shadowRow
	f.sweep = time.Duration(ofAllRows(int64(took)))
	if n := len(f.table.Fields); n <= maxHashed {
		f.shadow += hashSize * int64(n) * f.rows
	}
	return f, nil
}

// sweptFields returns the fields that a sweep reads of each row, in their order. With a
// version, only the rows that differ are read whole.
func sweptFields(t changes.Table) []int {
	fields := slices.Clone(t.Key)
	if t.Version {
		fields = append(fields, t.Stamp)
	} else {
		fields = append(fields, t.Fields...)
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// sizesOf returns the size in bytes of the rows of a page, and that of their keys.
func sizesOf(page changes.Page, fields, key []int) (size, keys int64) {
	for _, cells := range page.Rows {
		for i, c := range cells {
			cellSize := int64(len(c.Data) + 8)
			size += cellSize
			if slices.Contains(key, fields[i]) {
				keys += cellSize
			}
		}
	}
	return size, keys
}

// text describes the forecast. All sweeps share the time, so that they have one interval.
func (f forecast) text(interval time.Duration, share float64) string {
	if f.reason != "" {
		return "it is not captured: " + f.reason
	}
	text := "an unknown number of rows"
	if f.rows >= 0 {
		text = fmt.Sprintf("about %d rows, %s per sweep, %s of shadow,"+
			" a sweep every %v at changes.share %g",
			f.rows, display.Size(f.size), display.Size(f.shadow), interval.Round(time.Second), share)
	}
	if f.table.Pollable {
		text += "; polled by " + f.kind.Stamp
	} else if f.table.Stamp >= 0 {
		text += "; not polled, because " + f.table.Obstacle
	}
	if len(f.table.Omitted) > 0 {
		text += "; without " + strings.Join(f.table.Omitted, ", ")
	}
	return text
}
