package changes

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// mirrorRecords runs whctl mirror.
func mirrorRecords(ctx context.Context, c *cli.Context, s *command.Session) (err error) {
	if c.String("to") == "" {
		return cmdline.Usagef("give the file of the copies with --to")
	}
	service, err := s.ReadClient(c)
	if err != nil {
		return err
	}
	defer service.Close()
	m := &mirror{
		service: service,
		kinds:   &kindReader{service: service, now: s.Now},
		once:    c.Bool("once"),
		now:     s.Now,
		zone:    s.Zone(),
		notify:  func(format string, args ...any) { s.Notice(c, format, args...) },
	}
	if s.Prompter.Watches && !c.Bool("quiet") {
		m.progress.line = output.NewStatusLine(s.Stderr)
	}
	kinds, err := m.kinds.named(ctx, c.Args().Slice())
	if err != nil {
		return command.Interrupted(err, 0)
	}
	m.copies, err = openCopies(c.String("to"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.copies.Close()) }()
	return m.run(ctx, kinds)
}

// mirror keeps the copies of kinds. Each kind has a goroutine.
type mirror struct {
	service  *client.Client
	kinds    *kindReader
	copies   *copies
	once     bool // ends when the copies are current
	now      func() time.Time
	zone     *time.Location // time zone of printed times
	notify   func(format string, args ...any)
	progress progress
}

// notice prints a notice in place of the progress, which the next step of a kind shows again.
func (m *mirror) notice(format string, args ...any) {
	m.progress.line.Print(func() { m.notify(format, args...) })
}

// run keeps the copies until ctx is done, or with once until they are current. If one fails,
// the others stop.
func (m *mirror) run(ctx context.Context, kinds []*record.Kind) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	for _, kind := range kinds {
		work.Go(func() {
			if err := m.keep(ctx, kind); err != nil {
				cancel(fmt.Errorf("%s: %w", kind.Name, err))
			}
		})
	}
	work.Wait()
	m.progress.line.Clear()
	for _, kind := range kinds {
		m.noticeCurrent(kind)
	}
	return command.Interrupted(context.Cause(ctx), 0)
}

// noticeCurrent prints the time until which a copy has all changes, if it is known. That time is
// by the clock of the service, which may be ahead of the local one: the age is at least 0.
func (m *mirror) noticeCurrent(kind *record.Kind) {
	st, err := m.copies.state(kind)
	if err != nil || st == nil || st.current == "" {
		return
	}
	current, _ := time.Parse(time.RFC3339, st.current) // as it was written
	m.notice("%s is current as of %s, %s ago",
		kind.Name, current.In(m.zone).Format(time.DateTime), display.Age(m.now().Sub(current)))
}

// keep keeps the copy of a kind. It loads the records if there is no copy, if its fields have
// changed, or if changes since its token are not available. It pauses before it loads them another
// time, so that a service with tokens that are never valid is not read without end.
func (m *mirror) keep(ctx context.Context, kind *record.Kind) error {
	st, err := m.copies.state(kind)
	if err != nil {
		return err
	}
	var reason error // to load the records again; nil for none
	if st != nil && st.fields != fieldsOf(kind) {
		reason = errFields
	}
	pauses := backoff.Backoff{Min: minLoadPause, Max: maxLoadPause}
	for {
		if reason != nil {
			m.notice("%s is loaded again: %s", kind.Name, reason)
		}
		isLoaded := reason != nil || st == nil
		if isLoaded {
			kind, st, err = m.load(ctx, kind)
			if err != nil {
				return err
			}
		}

		start := m.now()
		reason = m.follow(ctx, kind, st)
		if !outdated(reason) {
			return reason
		}
		if m.now().Sub(start) > maxLoadPause {
			pauses.Reset()
		}
		if !isLoaded {
			continue
		}
		if err := backoff.Sleep(ctx, pauses.Next()); err != nil {
			return err
		}
	}
}

// outdated reports whether an error means that the records have to be loaded again.
func outdated(err error) bool {
	return errors.Is(err, errFields) || errors.Is(err, errValue) ||
		client.Is(err, client.ResyncRequired)
}

// A load is lost with its connection, or if its token becomes invalid; it is repeated after a
// pause. It fails after maxFutile loads in a row that have not got further than an earlier one.
const (
	minLoadPause = time.Second
	maxLoadPause = time.Minute
	maxFutile    = 5
)

// load loads the records until a copy is complete. It returns the kind with the fields that
// were loaded.
func (m *mirror) load(ctx context.Context, kind *record.Kind) (*record.Kind, *state, error) {
	pauses := backoff.Backoff{Min: minLoadPause, Max: maxLoadPause}
	best := 0   // number of rows of the longest load
	futile := 0 // number of loads since then
	for attempt := 1; ; attempt++ {
		latest, err := m.kinds.kind(ctx, kind.Name, 0)
		if err != nil {
			return nil, nil, err
		}
		st, rows, err := m.loadOnce(ctx, latest, attempt)
		futile++
		if rows > best {
			best = rows
			futile = 0
		}
		mayRepeat := client.Is(err, client.Incomplete) || outdated(err)
		if !mayRepeat || futile == maxFutile {
			return latest, st, err
		}
		wait := pauses.Next()
		m.notice("%s: %s; load %d starts in %s", kind.Name, err, attempt+1, wait)
		if err := backoff.Sleep(ctx, wait); err != nil {
			return nil, nil, err
		}
	}
}

// loadOnce loads the records into a table of their own, which replaces the copy when it is
// exact. It returns the number of rows even if it fails.
func (m *mirror) loadOnce(
	ctx context.Context, kind *record.Kind, attempt int,
) (st *state, rows int, err error) {
	t, last, rows, err := m.loadRows(ctx, kind, attempt)
	if err != nil {
		return nil, rows, err
	}
	st = &state{token: last.Since, fields: fieldsOf(kind), key: last.Key, omitted: last.Omitted}
	exact, err := positionOf(last.Exact)
	if err != nil {
		return nil, rows, err
	}
	if err := m.complete(ctx, kind, t, st, exact); err != nil {
		return nil, rows, err
	}
	if err := m.copies.replace(kind, t, st, m.now()); err != nil {
		return nil, rows, err
	}
	m.notice("%s loaded: %s%s",
		kind.Name, display.Count(int64(rows), "row", "rows"), without(last.Omitted))
	return st, rows, nil
}

// loadRows copies the rows of the service to a new table. It returns the last page, and the number
// of rows even if it fails.
func (m *mirror) loadRows(
	ctx context.Context, kind *record.Kind, attempt int,
) (t *table, last *client.CopyPage, rows int, err error) {
	for page, err := range m.service.Copy(ctx, kind) {
		if err != nil {
			return nil, nil, rows, err
		}
		if t == nil {
			t, err = m.createLoad(kind, page)
			if err != nil {
				return nil, nil, rows, err
			}
		}
		if err := m.copies.insert(t, page.Rows); err != nil {
			return nil, nil, rows, err
		}
		last = page
		rows += len(page.Rows)
		text := "loading, " + display.Count(int64(rows), "row", "rows")
		if attempt > 1 {
			text += fmt.Sprintf(" (load %d)", attempt)
		}
		m.progress.show(m.now(), kind.Name+": "+text)
	}
	return t, last, rows, nil
}

// createLoad creates the table for a load that has the key and the fields of a page.
func (m *mirror) createLoad(kind *record.Kind, page *client.CopyPage) (*table, error) {
	name := loadPrefix + kind.Name + "_" + rand.Text()
	t, err := newTable(kind, name, page.Key, page.Omitted)
	if err != nil {
		return nil, err
	}
	return t, m.copies.create(kind, t)
}

// complete applies changes to a loaded table until it is exact.
func (m *mirror) complete(
	ctx context.Context, kind *record.Kind, t *table, st *state, exact position,
) error {
	for page, err := range m.service.FollowChanges(ctx, kind, st.token) {
		if err != nil {
			return err
		}
		if err := m.sameFields(ctx, kind, st, page); err != nil {
			return err
		}
		if err := m.copies.advanceLoad(t, st, page); err != nil {
			return err
		}
		reached, err := exact.reachedBy(st.token)
		if reached || err != nil {
			return err
		}
	}
	return nil
}

// sameFields returns errFields if the changes of a page may lack fields of the copy, or have
// others. They can only where the epoch changes, since capture starts again for that.
func (m *mirror) sameFields(
	ctx context.Context, kind *record.Kind, st *state, page *client.ChangePage,
) error {
	if epochOf(page.Next) == epochOf(st.token) {
		return nil
	}
	_, err := m.checkFields(ctx, kind, st)
	return err
}

// checkFields returns errFields if the fields of the copy are not those of the service, or else
// the token of now.
func (m *mirror) checkFields(
	ctx context.Context, kind *record.Kind, st *state,
) (token string, err error) {
	latest, err := m.kinds.kind(ctx, kind.Name, 0)
	if err != nil {
		return "", err
	}
	current, err := currentPage(ctx, m.service, kind)
	if err != nil {
		return "", err
	}
	isSameKey := slices.Equal(current.Key, st.key)
	isSameSet := fieldsOf(latest) == st.fields && slices.Equal(current.Omitted, st.omitted)
	if !isSameKey || !isSameSet {
		return "", errFields
	}
	return current.Next, nil
}

// without names the fields that a copy does not have.
func without(omitted []string) string {
	if len(omitted) == 0 {
		return ""
	}
	return ", without " + strings.Join(omitted, ", ") + ", which the service does not capture"
}

// follow applies changes to the copy. With once it ends when it has those of now.
func (m *mirror) follow(ctx context.Context, kind *record.Kind, st *state) error {
	t, err := newTable(kind, kind.Name, st.key, st.omitted)
	if err != nil {
		return err
	}
	currentToken, err := m.checkFields(ctx, kind, st)
	if err != nil {
		return err
	}
	end := noPosition
	if m.once {
		end, err = positionOf(currentToken)
		if err != nil {
			return err
		}
	}
	applied := 0
	for page, err := range m.service.FollowChanges(ctx, kind, st.token) {
		if err != nil {
			return err
		}
		if err := m.sameFields(ctx, kind, st, page); err != nil {
			return err
		}
		if err := m.copies.advance(kind, t, st, page); err != nil {
			return err
		}
		applied += len(page.Changes)
		m.showFollowed(kind, applied, len(page.Changes) == 0)
		reached, err := end.reachedBy(st.token)
		if reached || err != nil {
			return err
		}
		latest, err := m.kinds.kind(ctx, kind.Name, kindsInterval)
		if err == nil && fieldsOf(latest) != st.fields {
			return errFields
		}
	}
	return nil
}

// showFollowed shows that a copy has got changes, or that it is current.
func (m *mirror) showFollowed(kind *record.Kind, applied int, isCurrent bool) {
	text := kind.Name + ": " + display.Count(int64(applied), "change", "changes") + " applied"
	if isCurrent {
		m.progress.showNow(m.now(), text+", current")
		return
	}
	m.progress.show(m.now(), text)
}

// progressInterval is the minimum interval between two texts of the progress.
const progressInterval = 200 * time.Millisecond

// progress shows the last step of any kind.
type progress struct {
	line *output.StatusLine // nil without a terminal

	mu      sync.Mutex // guards shownAt
	shownAt time.Time  // time of the last text
}

// show shows a text, unless there was another one shortly before.
func (p *progress) show(now time.Time, text string) {
	p.mu.Lock()
	isSoon := now.Sub(p.shownAt) < progressInterval
	p.mu.Unlock()
	if !isSoon {
		p.showNow(now, text)
	}
}

// showNow shows a text after which there may be none for a long time.
func (p *progress) showNow(now time.Time, text string) {
	p.mu.Lock()
	p.shownAt = now
	p.mu.Unlock()
	p.line.Show(text)
}
