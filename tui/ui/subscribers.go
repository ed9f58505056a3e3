package ui

import (
	"context"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// MaxListed is how many subscribers, subscriptions and so on are shown.
const MaxListed = 2000

// Subscribers lists the subscribers, by name.
func Subscribers(ctx context.Context, c *client.Client) (list []wire.Subscriber, total int, err error) {
	kind, _ := record.System().Lookup("Subscriber")
	page, err := c.Page(ctx, client.Query{Kind: kind, OrderBy: []string{"Name"}, Take: new(int64(MaxListed)), Include: []string{"Total"}})
	if err != nil {
		return nil, 0, err
	}
	for _, row := range page.Rows {
		list = append(list, wire.Subscriber{RecID: row.Text("RecID"), Name: row.Text("Name"), IsEnabled: row.Text("IsEnabled") == "true"})
	}
	return list, int(page.Total), nil
}
