CREATE TABLE variant (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sample     TEXT NOT NULL,
    chromosome TEXT NOT NULL,
    position   BIGINT NOT NULL,
    change     TEXT NOT NULL
);
