CREATE TABLE rosters (
    team  BIGINT NOT NULL,
    week  TEXT   NOT NULL,
    plan  JSONB  NOT NULL,
    PRIMARY KEY (team, week)
);
