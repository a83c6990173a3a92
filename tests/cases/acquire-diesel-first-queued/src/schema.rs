diesel::table! {
    imports (id) {
        id -> Int8,
        url -> Text,
        state -> Text,
        runner -> Nullable<Uuid>,
        started_at -> Nullable<Timestamptz>,
    }
}
