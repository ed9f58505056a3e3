-- +goose Up

-- Settings that were changed while the service ran, as texts. Each change raises
-- the version.
CREATE TABLE WH_Setting (
    Name              TEXT NOT NULL PRIMARY KEY,
    Value             TEXT NOT NULL,
    LastSavedDateTime TEXT NOT NULL
);

INSERT INTO WH_Number (Name, Next) VALUES ('SettingsVersion', 1);

-- +goose Down

DELETE FROM WH_Number WHERE Name = 'SettingsVersion';
DROP TABLE WH_Setting;
