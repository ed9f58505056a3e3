-- +goose Up

-- The embedded store keeps the request log in a file of its own, requestlog.db,
-- so that its writer holds up nobody here. On a server it is one of our tables.

-- +goose Down
