-- Which batch runs are under way. A row is removed by the run that put it.
CREATE TABLE run_locks (
    run_name   TEXT        PRIMARY KEY,
    owner      UUID        NOT NULL,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
