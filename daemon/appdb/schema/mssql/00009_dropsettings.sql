-- +goose Up

-- Settings are read from a file, variables and flags only. The program has written
-- the rows to a file before (see rescueSettings). The row SettingsVersion stays: where
-- several programs migrate at once, it keeps those behind from making the table again.
DROP TABLE whd.WH_Setting;

-- +goose Down

CREATE TABLE whd.WH_Setting (
    Name              nvarchar(100)  COLLATE Latin1_General_BIN2 NOT NULL,
    Value             nvarchar(4000) NOT NULL,
    LastSavedDateTime datetime2(7)   NOT NULL,
    CONSTRAINT PK_WH_Setting PRIMARY KEY (Name)
);

UPDATE whd.WH_Number SET Next = 1 WHERE Name = 'SettingsVersion';
