CREATE TABLE deploy_lease (
    environment text PRIMARY KEY,
    holder      text NOT NULL,
    valid_until timestamptz NOT NULL
);
