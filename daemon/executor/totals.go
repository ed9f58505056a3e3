package executor

import (
	"fmt"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/bounded"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// totals remembers the totals of filters.
type totals struct {
	mu     sync.Mutex
	known  *bounded.Map[string, knownTotal] // by statement
	costly *bounded.Map[string, time.Time]  // when the limited count of a statement was given up
}

type knownTotal struct {
	total     int64
	content   string // state of the database that was counted; see Session
	countedAt time.Time
}

// maxTotals and maxTotalKey limit the memory of totals to about a megabyte.
const (
	maxTotals   = 256
	maxTotalKey = 4096 // bytes of a statement with its arguments
)

// costlyTTL is how long a count is not repeated after it has exceeded its limit of steps: the next
// pages of the same filter are read soon.
const costlyTTL = time.Minute

func newTotals() *totals {
	never := func(knownTotal, time.Time) bool { return false }
	isOld := func(since, now time.Time) bool { return now.Sub(since) >= costlyTTL }
	return &totals{
		known:  bounded.New[string](maxTotals, time.Minute, never),
		costly: bounded.New[string](maxTotals, time.Minute, isOld),
	}
}

// totalKey identifies a statement with its arguments. ok is false if the key is too long to be
// remembered; a text of long arguments is not even built.
func totalKey(st query.Statement) (key string, ok bool) {
	size := len(st.SQL)
	for _, a := range st.Args {
		size += len(a.Value.Text) + len(a.Value.Bytes)
		for _, v := range a.List {
			size += 1 + len(v.Text) + len(v.Bytes)
		}
	}
	if size > maxTotalKey {
		return "", false
	}
	key = fmt.Sprintf("%s%#v", st.SQL, st.Args)
	return key, len(key) <= maxTotalKey
}

// attempt executes a statement that counts within a limit. One that has recently exceeded the
// limit is not executed again, and fails with fault.Timeout.
func (t *totals) attempt(st query.Statement, execute func() (int64, error)) (int64, error) {
	key, ok := totalKey(st)
	if !ok {
		return execute()
	}
	t.mu.Lock()
	since, isCostly := t.costly.Get(key)
	t.mu.Unlock()
	if isCostly && time.Since(since) < costlyTTL {
		return 0, fault.New(fault.Timeout, "the count has exceeded its limit a short time ago")
	}

	total, err := execute()
	if fault.Is(err, fault.Timeout) {
		now := time.Now()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.costly.Set(key, now, now)
	}
	return total, err
}

// count returns the result of a statement that counts. It executes the statement unless the result
// for the same content is known or, if contents cannot be compared, a result that is not older than
// maxAge; age is the age of that one. Requests that come while a statement is first executed execute
// it as well.
func (t *totals) count(
	st query.Statement, content string, maxAge time.Duration, execute func() (int64, error),
) (total int64, age time.Duration, err error) {
	key, ok := totalKey(st)
	isReusable := content != "" || maxAge > 0
	if !ok || !isReusable {
		total, err = execute()
		return total, 0, err
	}
	t.mu.Lock()
	known, isKnown := t.known.Get(key)
	t.mu.Unlock()
	if isKnown && content != "" && content == known.content {
		return known.total, 0, nil
	}
	if isKnown && content == "" {
		age = time.Since(known.countedAt)
		if age < maxAge {
			return known.total, age, nil
		}
	}

	now := time.Now()
	total, err = execute()
	if err != nil {
		return 0, 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.Set(key, knownTotal{total: total, content: content, countedAt: now}, now)
	return total, 0, nil
}
