// Package feeds answers requests of OData 4.0, which Excel and Power BI send.
package feeds

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/odata"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// The paths of the routes.
const (
	PathService  = queries.FeedPath
	PathMetadata = PathService + "/$metadata"
	PathFile     = PathService + "/{" + edge.ParamKind + "}" + queries.FeedFile
	PathRows     = PathService + "/{" + edge.ParamKind + "}"
	PathEntity   = PathRows + "({" + ParamKey + "})"
	PathCount    = PathRows + "/$count"
)

// ParamKey is the path parameter with the key of a record.
const ParamKey = "Key"

// Store describes the tables of record kinds.
type Store interface {
	// Key returns the fields that identify a row of a kind, nil if none are proven to do so.
	Key(ctx context.Context, kind *record.Kind) ([]int, error)
	// Columns returns the columns of a kind's table by field, as far as they are known.
	Columns(ctx context.Context, kind *record.Kind) ([]dialect.Column, error)
	// Leads reports whether an index of a kind's table starts with a field.
	Leads(ctx context.Context, kind *record.Kind, field int) (bool, error)
}

// Handlers has the handlers of OData.
type Handlers struct {
	Queries *queries.Handler
	Store   Store
}

// Negotiate returns the format of a response. It is JSON in any case; the metadata document is
// not affected.
func Negotiate(members query.Members, h http.Header) encode.Format {
	return odata.Response{Media: mediaOf(members, h)}.Format()
}

// mediaOf returns the media type that $format or else Accept selects.
func mediaOf(members query.Members, h http.Header) odata.Media {
	if text := members.Text("$format"); text != "" {
		m, _ := odata.ParseMedia(text)
		return m
	}
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept"), ","), ",") {
		if m, isJSON := odata.ParseMedia(part); isJSON {
			return m
		}
	}
	return odata.Media{}
}

// request is a request with its options.
type request struct {
	*edge.Context
	odata.Options
	media odata.Media
	clock *odata.Clock
}

// read reads the options of a request.
func (h *Handlers) read(x *edge.Context, resource odata.Resource) (request, error) {
	r := request{Context: x, media: mediaOf(x.URLMembers, x.Request.Header), clock: odata.NewClock(zone(x))}
	var err error
	r.Options, err = odata.ParseOptions(resource, x.Kind, r.clock, x.URLMembers)
	if err != nil {
		return r, err
	}
	x.ReportIgnored(r.Ignored)
	if len(r.Filter.Folded) > 0 {
		err = h.checkFolded(r)
	}
	x.Timing.Parsed = time.Now()
	return r, err
}

// zone returns the time zone of the ERP's dates.
func zone(x *edge.Context) *time.Location { return cmp.Or(x.Options.Query.Zone, time.Local) }

// checkFolded rejects tolower and toupper of case-sensitive fields.
func (h *Handlers) checkFolded(r request) error {
	columns, err := h.Store.Columns(r.Request.Context(), r.Kind)
	if err != nil {
		return err
	}
	for _, field := range r.Filter.Folded {
		if field < len(columns) && dialect.CaseSensitive(columns[field].Collation) {
			return fault.New(fault.NotImplemented,
				"$filter has tolower or toupper of %s, which is compared with regard to case: the functions are not supported for it",
				r.Kind.Fields[field].Name)
		}
	}
	return nil
}

// Service returns the service document.
func (h *Handlers) Service(x *edge.Context) error {
	r, err := h.read(x, odata.Document)
	if err != nil {
		return err
	}
	context := edge.ServiceURL(x) + PathMetadata
	if r.media.Bare {
		context = ""
	}
	return x.Send(x.Format.ContentType, odata.ServiceDocument(h.kinds(x), context), nil)
}

// kinds returns the kinds that the user may read.
func (h *Handlers) kinds(x *edge.Context) []*record.Kind {
	return x.Options.Kinds().Filter(func(k *record.Kind) bool { return queries.MayQuery(x, k) }).Kinds()
}

// Metadata returns the metadata document.
func (h *Handlers) Metadata(x *edge.Context) error {
	if _, err := h.read(x, odata.Schema); err != nil {
		return err
	}
	var sets []odata.Set
	for _, kind := range h.kinds(x) {
		set, err := h.set(x.Request.Context(), kind)
		if err != nil {
			return err
		}
		sets = append(sets, set)
	}
	return x.Send("application/xml;charset=utf-8", odata.Metadata(sets), nil)
}

// set describes a kind. The types of its columns are only needed for decimals.
func (h *Handlers) set(ctx context.Context, kind *record.Kind) (odata.Set, error) {
	key, err := h.Store.Key(ctx, kind)
	set := odata.Set{Kind: kind, Key: odata.EntityKey(kind, key)}
	if err != nil {
		return set, err
	}
	isDecimal := func(f record.Field) bool { return f.Type == record.Decimal }
	if !slices.ContainsFunc(kind.Fields, isDecimal) {
		return set, nil
	}
	columns, err := h.Store.Columns(ctx, kind)
	for _, c := range columns {
		set.Columns = append(set.Columns, c.Type)
	}
	return set, err
}

// File returns the file with which Power BI Desktop connects to the records of a kind.
func (h *Handlers) File(x *edge.Context) error {
	if _, err := h.read(x, odata.Document); err != nil {
		return err
	}
	x.Response.Header().Set("Content-Disposition", "attachment; filename="+x.Kind.Name+queries.FeedFile)
	return x.Send("application/json", odata.PBIDS(edge.ServiceURL(x)+PathService+"/"+x.Kind.Name), nil)
}

// Count returns the number of records.
func (h *Handlers) Count(x *edge.Context) error {
	r, err := h.read(x, odata.Count)
	if err != nil {
		return err
	}
	n, err := h.count(r)
	return x.Send("text/plain;charset=utf-8", strconv.AppendInt(nil, n, 10), err)
}

// count counts the records that match the filter.
func (h *Handlers) count(r request) (int64, error) {
	plan, err := query.NewPlan(&query.Request{
		Kind:  r.Kind,
		Where: r.Filter.Where,
		Total: query.TotalOn,
	}, false)
	if err != nil {
		return 0, err
	}
	plan.CountAgain = true
	rows, err := h.Queries.Store.Select(r.Request.Context(), plan)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	tail, err := rows.Tail(0)
	return tail.Total, err
}

// Entity returns the record with a key.
func (h *Handlers) Entity(x *edge.Context) error {
	r, err := h.read(x, odata.Entity)
	if err != nil {
		return err
	}
	key, err := h.Store.Key(x.Request.Context(), x.Kind)
	if err != nil {
		return err
	}
	key = odata.EntityKey(x.Kind, key) // nil if OData cannot express it
	if key == nil {
		return fault.New(fault.NotFound, "the records of %s have no key; use $filter", x.Kind.Name)
	}
	where, err := odata.ParseKey(x.Kind, key, r.clock, x.Params.Get(ParamKey))
	if err != nil {
		return err
	}

	plan, err := query.NewPlan(&query.Request{
		Kind:   x.Kind,
		Where:  where,
		Fields: r.Select,
		Take:   1,
		Total:  query.TotalOff,
	}, false)
	if err != nil {
		return err
	}
	rows, err := h.Queries.Store.Select(x.Request.Context(), plan)
	if err != nil {
		return err
	}
	defer rows.Close()
	cells, err := rows.Next()
	if err != nil {
		return err
	}
	if cells == nil {
		return fault.New(fault.NotFound, "no record of %s has this key", x.Kind.Name)
	}
	body, err := r.response(true).Entity(queries.ShapeOf(x, plan), cells)
	return x.Send(x.Format.ContentType, body, err)
}

// response returns how records are written.
func (r request) response(entity bool) odata.Response {
	return odata.Response{
		Media:   r.media,
		Context: odata.Context(edge.ServiceURL(r.Context)+PathService, r.Kind, r.Select, entity),
		Count:   -1,
		Zone:    zone(r.Context),
		Record:  r.Kind.Name,
	}
}

// Rows returns a page of records.
func (h *Handlers) Rows(x *edge.Context) error {
	r, err := h.read(x, odata.Rows)
	if err != nil {
		return err
	}
	remaining := r.Top // the rows that the client still expects; NoTake for all
	if r.Token != nil {
		remaining = r.Token.Rest
	}
	req, err := h.request(r)
	if err != nil {
		return err
	}
	req.Take = remaining
	if req.Place != nil {
		req.Take = r.pageSize(remaining)
	}
	plan, err := query.NewPlan(req, false)
	if err != nil {
		return err
	}

	r.Select = req.Fields // a token has those of the first page
	response := r.response(false)
	if r.Token != nil {
		response.Count = r.Token.Count
	} else if r.Options.Count {
		response.Count, err = h.count(r)
		if err != nil {
			return err
		}
	}
	response.Next = func(cursor string) string {
		next := odata.Token{Rest: remaining, Count: response.Count, Cursor: cursor}
		if remaining != query.NoTake {
			next.Rest = remaining - req.Take
		}
		if next.Rest == 0 {
			return ""
		}
		return r.nextLink(next)
	}
	x.Format.Format = response.Format()
	return h.Queries.Rows(x, plan)
}

// request returns the query of a page. Its place is nil for records without a key, which are all
// on one page.
func (h *Handlers) request(r request) (*query.Request, error) {
	req := &query.Request{
		Kind:        r.Kind,
		Where:       r.Filter.Where,
		Order:       r.Order,
		OrderMember: "$orderby",
		Fields:      r.Select,
		Skip:        r.Skip,
		SkipSet:     r.Skip > 0,
		Total:       query.TotalOff,
	}
	ctx := r.Request.Context()
	if r.Token != nil {
		req.Cursor = &r.Token.Cursor
		return req, tokenError(h.Queries.Store.SetPlace(ctx, req, nil))
	}
	key, err := h.Store.Key(ctx, r.Kind)
	if err != nil || key == nil {
		return req, err
	}
	if len(r.Order) == 0 {
		req.Order, err = h.partitionOrder(r)
		if err != nil {
			return req, err
		}
	}
	req.Cursor = new(string) // empty: the first page
	return req, h.Queries.Store.SetPlace(ctx, req, nil)
}

// tokenError returns the error for a token with a cursor that was refused with err.
func tokenError(err error) error {
	if errors.Is(err, query.ErrEarlierCursor) {
		return odata.EarlierTokenError()
	}
	if err != nil && fault.Is(err, fault.Invalid) {
		return odata.TokenError()
	}
	return err
}

// partitionOrder returns the order of the records of a partition: that of its date if an index has
// it, since a page is then one range of the index. It is nil for all other records.
func (h *Handlers) partitionOrder(r request) ([]query.Order, error) {
	field := r.Filter.Partition(r.Kind)
	if field < 0 {
		return nil, nil
	}
	leads, err := h.Store.Leads(r.Request.Context(), r.Kind, field)
	if err != nil || !leads {
		return nil, err
	}
	return []query.Order{{Field: field}}, nil
}

// pageSize returns the number of rows on a page: the maximum of the settings, or less if the
// client prefers that. remaining is the number of rows that it still expects.
func (r request) pageSize(remaining int64) int64 {
	size := r.Context.Options.FeedPage
	if limit := r.Context.Options.Query.MaxTake; limit > 0 {
		size = min(size, limit)
	}
	if preferred := preferredPage(r.Request.Header); preferred > 0 {
		size = min(size, preferred)
		r.Response.Header().Set("Preference-Applied", odata.MaxPageSize+"="+strconv.FormatInt(size, 10))
	}
	if remaining == query.NoTake {
		return size
	}
	return min(size, remaining)
}

// preferredPage returns the size of a page that a client prefers, 0 if it has no preference.
func preferredPage(h http.Header) int64 {
	for part := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		name, text, _ := strings.Cut(part, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		isPageSize := name == odata.MaxPageSize || "odata."+name == odata.MaxPageSize
		if !isPageSize {
			continue
		}
		n, err := strconv.ParseInt(strings.Trim(text, ` "`), 10, 32)
		if err == nil {
			return max(n, 0)
		}
	}
	return 0
}

// nextLink returns the URL of the next page. It has none of the request's options but $format:
// the token has the others.
func (r request) nextLink(next odata.Token) string {
	link := edge.ServiceURL(r.Context) + PathService + "/" + r.Kind.Name + "?$skiptoken=" + next.String()
	if r.URLMembers.Text("$format") == "" {
		return link
	}
	mediaType := r.media.ContentType()
	withoutCharset := mediaType[:strings.LastIndexByte(mediaType, ';')]
	return link + "&$format=" + withoutCharset
}
