-- +goose Up

-- Nothing: on a server this version makes WH_Lock, by whose rows those who
-- write the same custom field value of a bill's stage keep each other away. Here
-- the values are in records.db, which has one writer at a time.

SELECT 1;

-- +goose Down

SELECT 1;
