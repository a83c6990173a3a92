CREATE TABLE task_lease (
    task       TEXT PRIMARY KEY,
    holder     TEXT NOT NULL,
    held_until TIMESTAMPTZ NOT NULL
);
