package ui

import (
	"context"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// MaxListed is the maximum number of subscribers, subscriptions and similar objects
// that are listed.
const MaxListed = 2000

// Subscribers lists the subscribers by name, and returns their total number.
func Subscribers(ctx context.Context, c *client.Client) (list []wire.Subscriber, total int, err error) {
	kind, _ := record.System().Lookup("Subscriber")
	page, err := c.Page(ctx, client.Query{
		Kind:    kind,
		OrderBy: []string{"Name"},
		Take:    new(int64(MaxListed)),
		Include: []string{"Total"},
	})
	if err != nil {
		return nil, 0, err
	}
	for _, row := range page.Rows {
		list = append(list, wire.Subscriber{
			RecID:     row.Text("RecID"),
			Name:      row.Text("Name"),
			IsEnabled: row.Text("IsEnabled") == "true",
		})
	}
	return list, int(page.Total), nil
}

// SubscriberNames returns the names of all subscribers by ID.
func SubscriberNames(ctx context.Context, c *client.Client) (map[string]string, error) {
	list, _, err := Subscribers(ctx, c)
	names := make(map[string]string, len(list))
	for _, subscriber := range list {
		names[subscriber.RecID] = subscriber.Name
	}
	return names, err
}
