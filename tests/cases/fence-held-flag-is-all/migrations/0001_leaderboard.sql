CREATE TABLE leaderboard (
    season INT PRIMARY KEY,
    first_player BIGINT NOT NULL,
    points BIGINT NOT NULL
);
