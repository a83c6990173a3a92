CREATE TABLE controller_lease (
    region text PRIMARY KEY,
    holder text NOT NULL,
    ends   timestamptz NOT NULL
);
