CREATE TABLE carrier_lease (
    carrier text PRIMARY KEY,
    worker  uuid NOT NULL,
    until   timestamptz NOT NULL
);

CREATE TABLE address (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    line text NOT NULL
);
