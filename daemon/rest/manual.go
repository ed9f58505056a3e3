package rest

import (
	"net/http"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/manual"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
)

// manualOperation is the operation of the manual. Its pages are for browsers: unlike other
// operations, it cannot be called by its name.
const manualOperation = "GetManual"

// memberWords has the words of a search in the manual.
const memberWords = "q"

// Path parameters of the manual.
const (
	paramPage    = "Page"
	paramPicture = "Picture"
)

// manualPages has the handlers of the manual. It is public, as /metadata is: both describe the
// program, not the data.
type manualPages struct {
	access *accounts.Access
	manual *manual.Manual // nil if the program has none
}

// contents returns the list of pages, or the result of a search.
func (h *manualPages) contents(x *edge.Context) error {
	site, err := h.site(x)
	if err != nil {
		return err
	}
	f := form.Read(x)
	words := form.Or(form.Value(f, memberWords, form.Text), "")
	if err := f.Done(x); err != nil {
		return err
	}
	_, isSearch := f.Members.Get(memberWords)
	if isSearch {
		page, err := h.manual.Search(words, site)
		return x.Send(edge.HTMLType, page, err)
	}
	page, err := h.manual.Contents(site)
	return h.send(x, site, page, err)
}

// page returns the handler of the pages in a folder of the manual, "" for those of whd.
func (h *manualPages) page(folder string) func(*edge.Context) error {
	return func(x *edge.Context) error {
		site, err := h.site(x)
		if err != nil {
			return err
		}
		name := x.Params.Get(paramPage)
		page, err := h.manual.Page(manual.Path+folder+"/"+name, site)
		if err == nil && page == nil {
			return h.missing(x, site, name)
		}
		return h.send(x, site, page, err)
	}
}

// missing sends a page with a search. Only browsers get it; others get the usual error.
func (h *manualPages) missing(x *edge.Context, site encode.Site, name string) error {
	if !x.HTML() {
		return fault.New(fault.NotFound, "the manual has no page %s; %s lists the pages",
			edge.Clean(name), manual.Path)
	}
	page, err := h.manual.Missing(name, site)
	if err != nil {
		return err
	}
	x.LogFailure(fault.New(fault.NotFound, "the manual has no such page"))
	x.Response.Header().Set("Content-Type", edge.HTMLType)
	return x.Write(http.StatusNotFound, page)
}

// picture returns a picture of the manual.
func (h *manualPages) picture(x *edge.Context) error {
	site, err := h.site(x)
	if err != nil {
		return err
	}
	picture := h.manual.Picture(x.Params.Get(paramPicture))
	if picture == nil {
		return edge.NotFound()
	}
	return h.sendTagged(x, site, "image/svg+xml", picture)
}

// site returns the frame of a page, or an error if there is no manual.
func (h *manualPages) site(x *edge.Context) (encode.Site, error) {
	if h.manual == nil {
		return encode.Site{}, fault.New(fault.NotFound, "this program has no manual")
	}
	h.access.IdentifyFromSession(x)
	return edge.SiteOf(x), nil
}

// send sends a page, unless err is not nil.
func (h *manualPages) send(x *edge.Context, site encode.Site, page []byte, err error) error {
	if err != nil {
		return err
	}
	return h.sendTagged(x, site, edge.HTMLType, page)
}

// sendTagged sends a body, or status 304 if the client has it already.
func (h *manualPages) sendTagged(x *edge.Context, site encode.Site, contentType string, body []byte) error {
	tag, err := h.manual.Tag(site)
	if err != nil {
		return err
	}
	if sendUnchanged(x, tag) {
		return nil
	}
	x.Response.Header().Set("Content-Type", contentType)
	return x.Write(http.StatusOK, body)
}
