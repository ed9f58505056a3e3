package pages

import (
	"net/http"
	"net/url"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// collection has the pages that are the same for all things that the API lists, reads and removes by
// an ID.
type collection[T any] struct {
	client
	api   string // path of the operations
	param string // path parameter of the pages with the ID of an item
}

// itemPath returns the path of the operations on the item in the address of a page.
func (c collection[T]) itemPath(x *edge.Context) string {
	return c.api + "/" + url.PathEscape(x.Params.Get(c.param))
}

// find returns the item in the address.
func (c collection[T]) find(x *edge.Context) (*T, error) {
	item := new(T)
	err := c.get(x, c.itemPath(x), nil, item)
	return item, err
}

// show shows a table of all items.
func (c collection[T]) show(x *edge.Context, page table, row func(*edge.Context, *T) tableRow) error {
	var list []T
	if err := c.get(x, c.api, nil, &list); err != nil {
		return err
	}
	for i := range list {
		page.Rows = append(page.Rows, row(x, &list[i]))
	}
	return page.show(x, http.StatusOK)
}

// removal returns the routes that remove an item after a confirmation, and then show the page that
// the confirmation leads back to.
func (c collection[T]) removal(pattern string, confirm func(*edge.Context, *T) confirmation) []edge.Route {
	open := func(x *edge.Context) error {
		item, err := c.find(x)
		if err != nil {
			return err
		}
		return confirm(x, item).open(x)
	}
	remove := func(x *edge.Context) error {
		item, err := c.find(x)
		if err != nil {
			return err
		}
		page := confirm(x, item)
		err = c.send(x, http.MethodDelete, c.itemPath(x), nil, nil)
		if err != nil {
			return page.retry(x, err)
		}
		return goTo(x, page.Back+"?"+memberNote+"=Removed")
	}
	return both(account.Admin, pattern, open, remove)
}
