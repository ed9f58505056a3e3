-- +goose Up

-- Settings are read from a file, variables and flags only. The program has written
-- the rows to a file before (see rescueSettings). The row SettingsVersion stays: where
-- several programs migrate at once, it keeps those behind from making the table again.
DROP TABLE WH_Setting;

-- +goose Down

CREATE TABLE WH_Setting (
    Name              TEXT NOT NULL PRIMARY KEY,
    Value             TEXT NOT NULL,
    LastSavedDateTime TEXT NOT NULL
);

UPDATE WH_Number SET Next = 1 WHERE Name = 'SettingsVersion';
