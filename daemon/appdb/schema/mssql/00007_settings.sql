-- +goose Up

-- Settings that were changed while the service ran, as texts. Each change raises
-- the version, by which other daemons see that there was one.
CREATE TABLE whd.WH_Setting (
    Name              nvarchar(100)  COLLATE Latin1_General_BIN2 NOT NULL,
    Value             nvarchar(4000) NOT NULL,
    LastSavedDateTime datetime2(7)   NOT NULL,
    CONSTRAINT PK_WH_Setting PRIMARY KEY (Name)
);

INSERT INTO whd.WH_Number (Name, Next) VALUES ('SettingsVersion', 1);

-- +goose Down

DELETE FROM whd.WH_Number WHERE Name = 'SettingsVersion';
DROP TABLE whd.WH_Setting;
