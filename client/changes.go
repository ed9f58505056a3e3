package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// maxWait is the maximum time that the service waits for a change.
const maxWait = 60 * time.Second

// ChangePage is a page of the changes of a kind.
type ChangePage struct {
	Changes []wire.Change
	Texts   []json.RawMessage // each change as the service sent it
	Next    string            // the token after them

	// Looked is the time, in RFC 3339, until which a page without Changes covers all changes. It
	// is empty if that is unknown.
	Looked string

	Key     []string // with the token of the present: the fields that identify a row
	Omitted []string // with the token of the present: the fields that are not captured
}

// Changes fetches up to take changes of a kind since a token, in their order; take 0 is the
// maximum of the service. Without since it returns no changes and the token of the
// present. If there are no changes, the service waits for one, at most for the shortest of
// wait, a minute, and two thirds of Options.Timeout. If changes since the token are not
// available, the error is of kind ResyncRequired: the caller must load the records again.
func (c *Client) Changes(ctx context.Context, kind *record.Kind, since string, take int, wait time.Duration) (*ChangePage, error) {
	members := make(url.Values)
	if since != "" {
		members.Set("Since", since)
	}
	if take > 0 {
		members.Set("Take", strconv.Itoa(take))
	}
	limit := min(maxWait, c.options.Timeout*2/3) // so that the reply starts before the timeout
	if seconds := int(min(wait, limit).Seconds()); seconds > 0 {
		members.Set("Wait", strconv.Itoa(seconds))
	}
	path := withQuery("/Queries/"+url.PathEscape(kind.Name)+"/Changes", members)
	reply, err := c.send(ctx, call{method: http.MethodGet, path: path, reads: true})
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	return readChanges(reply)
}

func readChanges(reply *http.Response) (*ChangePage, error) {
	text, err := jsonBody(reply, maxPage)
	if err != nil {
		return nil, err
	}
	var envelope struct {
		Results []json.RawMessage
		Meta    wire.ChangesMeta
	}
	err = json.Unmarshal(text, &envelope)
	page := &ChangePage{
		Changes: make([]wire.Change, len(envelope.Results)),
		Texts:   envelope.Results,
		Next:    envelope.Meta.Next,
		Looked:  envelope.Meta.LookedAt,
		Key:     names(envelope.Meta.Key),
		Omitted: names(envelope.Meta.Omitted),
	}
	for i := range page.Texts {
		err = errors.Join(err, json.Unmarshal(page.Texts[i], &page.Changes[i]))
	}
	if err != nil || page.Next == "" {
		return nil, truncated(reply, err, "the response is not a page of changes")
	}
	return page, nil
}

// FollowChanges yields the changes of a kind since a token, page by page, as they are
// captured. A page can be empty: then the reader has all changes that were captured when
// it was sent. A connection that is lost is reestablished, once any request of the client
// has succeeded. The last item is an error if ctx is done or the service refuses the
// request; one of kind ResyncRequired means that the caller must load the records again.
func (c *Client) FollowChanges(ctx context.Context, kind *record.Kind, since string) iter.Seq2[*ChangePage, error] {
	return func(yield func(*ChangePage, error) bool) {
		wait := time.Duration(0) // at first: the caller soon knows whether it has all changes
		for {
			page, err := repeatedly(ctx, c, func() (*ChangePage, error) {
				return c.Changes(ctx, kind, since, 0, wait)
			})
			if !yield(page, err) || err != nil {
				return
			}
			since = page.Next
			wait = maxWait
		}
	}
}

// repeatedly calls read until it succeeds, fails with a permanent error, or ctx is done.
func repeatedly[T any](ctx context.Context, c *Client, read func() (T, error)) (T, error) {
	pauses := backoff.Backoff{Min: minReadPause, Max: maxReadPause}
	for {
		page, err := read()
		if err == nil || ctx.Err() != nil || !c.isTemporary(err) {
			return page, err
		}
		if err := c.pauseAfter(ctx, err, &pauses); err != nil {
			return page, err
		}
	}
}

// isTemporary reports whether a read of changes may succeed later: the service looks at the
// kind for the first time, or has been reached before.
func (c *Client) isTemporary(err error) bool {
	status := statusOf(err)
	isUnexpected := status == http.StatusOK && Is(err, Failed) // the reply of another program
	if isUnexpected || isFinal(err) {
		return false
	}
	return status == http.StatusServiceUnavailable || c.reached.Load()
}

// CopyPage is a part of the rows of an exact copy.
type CopyPage struct {
	Rows    []Row
	Since   string   // token of the start: the changes since then complete the copy
	Exact   string   // token of the end, on the last page: with the changes up to it, the rows are exact
	Key     []string // the fields that identify a row
	Omitted []string // the fields that are not captured
}

// Limits of the pages of a copy. A page ends at the first one that is reached.
const (
	copyRows  = 5000
	copyBytes = 4 << 20
)

// Copy yields all records of a kind from one reply. For an exact copy, the changes from Since
// to Exact of the last page have to be applied to them, each as an upsert or a deletion by
// its KeyFields. Errors before the first page are the same as for FollowChanges. If the connection
// is lost later, the last item is an error of kind Incomplete: the caller must discard the
// rows so far and call Copy again.
func (c *Client) Copy(ctx context.Context, kind *record.Kind) iter.Seq2[*CopyPage, error] {
	return func(yield func(*CopyPage, error) bool) {
		err := c.copyRows(ctx, kind, func(p *CopyPage) bool { return yield(p, nil) })
		if err != nil && !errors.Is(err, errLoopEnded) {
			yield(nil, err)
		}
	}
}

// copyRows is Copy, and returns the error instead of yielding it.
func (c *Client) copyRows(ctx context.Context, kind *record.Kind, yield func(*CopyPage) bool) error {
	readPresent := func() (*ChangePage, error) { return c.Changes(ctx, kind, "", 0, 0) }
	start, err := repeatedly(ctx, c, readPresent)
	if err != nil {
		return err
	}
	query := Query{Kind: kind, forCopy: start.Next}
	rows, err := repeatedly(ctx, c, func() (*Rows, error) { return c.ndjson(ctx, query) })
	if err != nil {
		return err
	}

	page := CopyPage{Since: start.Next, Key: start.Key, Omitted: start.Omitted}
	size := 0
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		page.Rows = append(page.Rows, row.Clone())
		size += len(row.JSON())
		if len(page.Rows) < copyRows && size < copyBytes {
			continue
		}
		full := page // the caller may keep it
		if !yield(&full) {
			return errLoopEnded
		}
		page.Rows = nil
		size = 0
	}

	page.Exact = endHeader(rows.reply, wire.HeaderNextToken)
	if page.Exact == "" { // a proxy has removed it; later tokens are exact, too
		present, err := repeatedly(ctx, c, readPresent)
		if err != nil {
			return err
		}
		page.Exact = present.Next
	}
	yield(&page)
	return nil
}

// names splits a list of names, which may be empty.
func names(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// Captures returns the state of the capture of changes, by kind. It requires the role admin.
func (c *Client) Captures(ctx context.Context) ([]wire.Capture, error) {
	return get[[]wire.Capture](ctx, c, "/Changes")
}

// ResumeCaptureWith resumes the capture of a kind that has stopped. The mode of the request
// determines whether the changes since then are published.
func (c *Client) ResumeCaptureWith(ctx context.Context, kind string, request wire.ResumeRequest) error {
	path := "/Changes/" + url.PathEscape(kind) + "/Resume"
	return c.do(ctx, call{method: http.MethodPost, path: path, body: request}, nil)
}

// ResumeCapture resumes the capture of a kind with wire.ResumeSilent or wire.ResumePublish.
//
// Deprecated: use ResumeCaptureWith.
func (c *Client) ResumeCapture(ctx context.Context, kind string, silent bool) error {
	request := wire.ResumeRequest{Mode: wire.ResumePublish}
	if silent {
		request.Mode = wire.ResumeSilent
	}
	return c.ResumeCaptureWith(ctx, kind, request)
}
