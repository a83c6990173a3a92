CREATE TABLE print_orders (
    id BIGSERIAL PRIMARY KEY,
    pages INT NOT NULL,
    printed_at TIMESTAMPTZ,
    desk UUID,
    desk_since TIMESTAMPTZ
);
