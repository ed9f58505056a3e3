-- +goose Up

-- Messages of an event are found by the name of the event. Their IDs have the order of those of
-- their events.
CREATE INDEX IX_WH_Event_Name ON whd.WH_Event (EventName, EventID);

-- +goose Down

DROP INDEX IX_WH_Event_Name ON whd.WH_Event;
